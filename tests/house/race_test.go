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

// TestEveryTestRuns: `make test-go` runs a package whose tests are fewer under the race detector
// without it, too.
func TestEveryTestRuns(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	cmd := exec.Command("git", "grep", "-l", "-F", `storagetest.ShortUnderRace()`, "--", "*_test.go", ":!tests/house")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	for file := range strings.FieldsSeq(string(out)) {
		whole := regexp.MustCompile(`(?m)^\tgo test -trimpath -timeout \w+ (\./\S+ )*\./` + regexp.QuoteMeta(path.Dir(file)) + `\b`)
		require.Regexp(t, whole, string(makefile), "%s: the Makefile runs no test of %s without the race detector", file, path.Dir(file))
	}
}
