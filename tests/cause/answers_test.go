package cause

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/answers.txt anew")

// TestAnswers compares the answers to all recorded calls with a file: a change of the rules shows there which calls have another
// answer, and its commit says why each that became worse may.
//
// spec: CONF-03
func TestAnswers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# The answers of the rules to all recorded calls: go test ./tests/cause -run TestAnswers -update writes them.\n")
	folders := []string{".", "servers"}
	for _, draw := range draws {
		folders = append(folders, draw.name)
	}
	for _, folder := range folders {
		var n tally
		var lines []string
		for _, a := range answers(t, filepath.Join("testdata", folder), nil) {
			n.add(a)
			lines = append(lines, a.verdict()+" "+a.String()+kindsOf(&a))
		}
		slices.Sort(lines)
		fmt.Fprintf(&b, "\n# %s: %s\n%s\n", folder, &n, strings.Join(lines, "\n"))
	}
	file := filepath.Join("testdata", "answers.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(have), b.String(), "answers changed: -update writes %s", file)
}

// verdict says whether an answer is right, names the right place, or names nothing.
func (a answer) verdict() string {
	var n tally
	n.add(a)
	for word, is := range map[string]int{"right  ": n.right, "unknown": n.unknown, "none   ": n.calm, "wrong  ": n.wrong} {
		if is > 0 {
			return word
		}
	}
	return ""
}

// kindsOf lists the kinds of issues of a conference.
func kindsOf(a *answer) string {
	var kinds []string
	for i := range a.summary.Issues {
		kinds = append(kinds, a.summary.Issues[i].Kind)
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); len(kinds) == 0 {
		return ""
	}
	return "; " + strings.Join(kinds, " ")
}
