package house

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bannedWords are those that no text and no identifier of the project uses. Components
// report, emit and record; values are unknown, dirty or out of range.
const bannedWords = `\<[Tt]old|[a-z]Told|[Uu]ntold|[Ww]hoever|[Ss]tirred|\<[Ww]eary|[Rr]estless|[Uu]nfindable|[Ss]wallow|[Ll]oosen`

// TestWords finds banned words in every text of the project. The interface document and
// the requirements are copies, and the built library follows from its sources.
func TestWords(t *testing.T) {
	cmd := exec.Command("git", "grep", "-nIE", bannedWords, "--", ".",
		":!docs/interface.md", ":!docs/requirements.md", ":!client/dist", ":!tests/house/words_test.go", ":!tests/house/prose_test.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return // git grep found nothing, or this is no checkout
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		t.Errorf("a banned word: %s", line)
	}
}
