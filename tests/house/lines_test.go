package house

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostShipped is the most lines of Go that the programs have, without generated files. A commit that raises it says what the lines are for, and
// what it removed.
const mostShipped = 81_950

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestLines counts the lines of Go: those of the programs, those of the kits and tools of tests, and those of tests. `make lines` prints them.
func TestLines(t *testing.T) {
	shipped := map[string]bool{}
	cmd := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, "./collector", "./agent/cmd/...")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for file := range strings.FieldsSeq(string(out)) {
		shipped[file] = true
	}
	require.NotEmpty(t, shipped)
	count := map[string]int{}
	eachText(t, func(path, text string) {
		whole, err := filepath.Abs(filepath.Join(root, path))
		require.NoError(t, err)
		switch {
		case filepath.Ext(path) != ".go" || generated.MatchString(text):
		case shipped[whole]:
			count["shipped"] += strings.Count(text, "\n")
		case strings.HasSuffix(path, "_test.go"):
			count["tests"] += strings.Count(text, "\n")
		default:
			count["test support"] += strings.Count(text, "\n")
		}
	})
	t.Logf("lines of Go: %v", count)
	require.LessOrEqual(t, count["shipped"], mostShipped)
	require.Greater(t, count["shipped"], mostShipped-1000, "mostShipped can be lower")
}
