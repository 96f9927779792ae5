package house

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryTestRuns: `make test-go` runs each package, but for the browsers'; and without the race
// detector those whose tests are fewer under it.
func TestEveryTestRuns(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	recipe := func(pattern string) []string {
		found := regexp.MustCompile(`(?m)^\t.* ` + pattern + `$`).FindSubmatch(makefile)
		require.NotNil(t, found, "a recipe of test-go: %s", pattern)
		parts := make([]string, 0, len(found))
		for _, part := range found[1:] {
			parts = append(parts, string(part))
		}
		return parts
	}
	plain := strings.Fields(recipe(`CGO_ENABLED=0 go test -vet=off -trimpath (-timeout .*)`)[0])
	raced := recipe(`go test -vet=off -race (.*)\$\$\(go list \./\.\.\. \| grep -vE '(.*)'\)`)
	race := strings.Fields(raced[0])
	left, err := regexp.Compile(strings.ReplaceAll(raced[1], "$$", "$"))
	require.NoError(t, err)
	for _, p := range list(t) {
		folder := "./" + strings.TrimPrefix(p.ImportPath, module)
		if folder != "./tests/e2e" && left.MatchString(p.ImportPath) {
			require.Contains(t, append(race, plain...), folder, "no run of test-go has it")
		}
	}
	cmd := exec.Command("git", "grep", "-l", "-F", `storagetest.ShortUnderRace()`, "--", "*_test.go", ":!tests/house")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	for file := range strings.FieldsSeq(string(out)) {
		require.Contains(t, plain, "./"+path.Dir(file), "it has fewer tests under the race detector")
	}
}
