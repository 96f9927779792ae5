package house

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bannedWords are those that no text and no identifier of the project uses. Components
// report, emit and record; values are unknown, dirty or out of range.
const bannedWords = `\<[Tt]old|[a-z]Told|[Uu]ntold|[Ww]hoever|[Ss]tirred|\<[Ww]eary|[Rr]estless|[Uu]nfindable|[Ss]wallow|[Ll]oosen`

// notRewordedYet lists the folders whose texts still use them. A folder leaves the list when
// its texts are written anew.
var notRewordedYet = []string{
	"internal/conference/", "processors/conferenceprocessor/",
}

// TestWords looks for banned words in every text of the project. The interface document and
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
	pending := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		i := slices.IndexFunc(notRewordedYet, func(folder string) bool { return strings.HasPrefix(line, folder) })
		if i < 0 {
			t.Errorf("a banned word: %s", line)
			continue
		}
		pending[notRewordedYet[i]] = true
	}
	for _, folder := range notRewordedYet {
		require.True(t, pending[folder], "%s has no banned word any more: take it off the list", folder)
	}
}
