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
	recipe := regexp.MustCompile(`(?m)^\t.* CGO_ENABLED=0 go test -vet=off -trimpath (.*)\n\t.* go test -vet=off -race (.*)\$\$\(go list ./\.\.\. \| grep -vE '(.*)'\)$`).FindStringSubmatch(string(makefile))
	require.Len(t, recipe, 4, "the recipe of test-go")
	plain, race := strings.Fields(recipe[1]), strings.Fields(recipe[2])
	left, err := regexp.Compile(strings.ReplaceAll(recipe[3], "$$", "$"))
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
