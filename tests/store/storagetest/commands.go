package storagetest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operations is the path of the operator's manual from an engine's folder.
const operations = "../../docs/operations.md"

// Paste runs the commands of a block of docs/operations.md, whose name follows ```sh, in a shell,
// after replacements (old, new, old, new, …; the longer before the shorter).
// It returns their output.
func Paste(t *testing.T, block string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(operations)
	require.NoError(t, err)
	found := regexp.MustCompile("(?ms)^```sh "+regexp.QuoteMeta(block)+"\n(.*?)^```$").FindAllSubmatch(text, -1)
	require.Len(t, found, 1, "blocks named %s in %s", block, operations)
	script := string(found[0][1])
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, script, replace[i], block)
		script = strings.ReplaceAll(script, replace[i], replace[i+1])
	}
	require.NotContains(t, script, "/var/", "the test must not touch the machine's own")
	require.NotContains(t, script, "example.com")
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", script).CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	return string(out)
}
