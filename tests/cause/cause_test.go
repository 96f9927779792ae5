package cause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
)

// answer is what was found about a call, held against what was done to it.
type answer struct {
	trace   *Trace
	found   cause.Finding
	users   []string // where, by name
	right   bool
	placed  bool // right, and in the right place
	summary conference.Summary
}

func ask(t *testing.T, trace *Trace, summary conference.Summary) answer {
	t.Helper()
	a := answer{trace: trace, found: summary.LikelyCause, summary: summary}
	names := map[string]string{}
	for _, p := range summary.Participants {
		names[p.Session] = p.UserID
	}
	for _, session := range []string{a.found.Session, a.found.Peer} {
		if session != "" {
			a.users = append(a.users, names[session])
		}
	}
	want := append([]string{trace.Label.Cause}, trace.Label.Also...)
	a.right = slices.Contains(want, string(a.found.Cause))
	a.placed = a.right && place(trace.Label, a.users)
	return a
}

// place: nobody else is named, and of a path both ends.
func place(label Label, users []string) bool {
	for _, user := range users {
		if !slices.Contains(label.Users, user) {
			return false
		}
	}
	return len(label.Users) == 0 || len(users) > 0
}

// unnamed: the participant at fault has no library, so nobody can be named.
func (a answer) unnamed(who string) bool {
	return a.right && len(a.users) == 0 && slices.Contains(a.trace.Label.Users, who)
}

func (a answer) String() string {
	return fmt.Sprintf("%-26s want %s %v, found %s %v %.2f", a.trace.Name, a.trace.Label.Cause, a.trace.Label.Users, a.found.Cause, a.users, a.found.Confidence)
}

// answers asks about every trace in a folder, each changed as it says; nil: unchanged.
func answers(t *testing.T, dir string, change func([]plog.Logs) []plog.Logs) (all []answer) {
	t.Helper()
	for _, trace := range traces(t, dir) {
		if change == nil {
			all = append(all, ask(t, trace, replay(t, trace)))
			continue
		}
		if batches := change(trace.Logs); len(batches) > 0 { // else nobody reported anything
			all = append(all, ask(t, trace, Replay(t, batches)))
		}
	}
	return all
}

// recorded has the traces of folders, and the summaries of those that were replayed unchanged.
var recorded = struct {
	mu        sync.Mutex
	traces    map[string][]*Trace
	summaries sync.Map // by *Trace
}{traces: map[string][]*Trace{}}

// traces reads the traces of a folder, once.
func traces(t *testing.T, dir string) []*Trace {
	t.Helper()
	recorded.mu.Lock()
	defer recorded.mu.Unlock()
	if recorded.traces[dir] == nil {
		all, err := ReadAll(dir)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		recorded.traces[dir] = all
	}
	return recorded.traces[dir]
}

// replay replays a trace, once.
func replay(t *testing.T, trace *Trace) conference.Summary {
	t.Helper()
	if have, ok := recorded.summaries.Load(trace); ok {
		return have.(conference.Summary)
	}
	summary := Replay(t, trace.Logs)
	recorded.summaries.Store(trace, summary)
	return summary
}

const (
	goal      = 0.9 // of the answers are right, and name the right place
	confident = 0.7 // a wrong answer that is this sure is a lie
)

// lies: it is wrong, and sure. An uninstrumented peer cannot be named.
func (a answer) lies(silent string) bool {
	return !a.placed && !a.unnamed(silent) && a.found.Confidence >= confident
}

// TestLikelyCause replays every trace that the rules were made with, and compares the cause that is found with the label.
// TestDraws has calls that they were not made with.
//
// spec: CONF-03
func TestLikelyCause(t *testing.T) {
	t.Parallel()
	all := answers(t, "testdata", nil)
	t.Logf("the rules were made with %s\nwhat was done by row, what was found by column:\n%s", report(all, ""), matrix(all))
	require.GreaterOrEqual(t, share(all, func(a answer) bool { return a.placed }), goal, report(all, ""))
	for _, a := range all {
		require.False(t, a.lies(""), "wrong and sure: %s", a)
	}
}

// TestLessEvidence takes a part of the records away. The answers may be fewer, but hardly
// any may be wrong and sure.
//
// spec: CONF-03
func TestLessEvidence(t *testing.T) {
	for name, variant := range map[string]struct {
		change func([]plog.Logs) []plog.Logs
		silent string
		goal   float64
	}{
		"what Firefox does not measure": {asFirefox, "", 0.85},
		"without Ada's records":         {without("ada"), "ada", 0.75},
		"without Ben's records":         {without("ben"), "ben", 0.85},
		"without Cyd's records":         {without("cyd"), "cyd", 0.85},
		"every other measurement":       {thinned, "", 0.9},
		"Ben's clock is 2 s ahead":      {func(l []plog.Logs) []plog.Logs { return skewed(l, "ben", 2*time.Second) }, "", 0.9},
		"Ada's clock is 5 s behind":     {func(l []plog.Logs) []plog.Logs { return skewed(l, "ada", -5*time.Second) }, "", 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := answers(t, "testdata", variant.change)
			t.Log(report(all, variant.silent))
			require.GreaterOrEqual(t, share(all, func(a answer) bool {
				return a.placed || a.unnamed(variant.silent) || a.found.Cause == cause.Unknown
			}), variant.goal)
			require.LessOrEqual(t, share(all, func(a answer) bool { return a.lies(variant.silent) }), 0.03)
		})
	}
}

// TestOrderDoesNotMatter: late, early, twice and out of order, the last summary says the same.
//
// spec: CONF-02, CONF-03
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	for i, trace := range traces(t, "testdata") {
		want := replay(t, trace)
		got := Replay(t, shuffled(trace.Logs, uint64(i)))
		got.Revision = want.Revision
		require.Equal(t, want, got, trace.Name)
	}
}

func share(answers []answer, is func(answer) bool) float64 {
	n := 0
	for _, a := range answers {
		if is(a) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(answers)))
}

// report counts the answers, and lists those that are not right. An uninstrumented peer cannot be
// named: then it is right to name nobody.
func report(answers []answer, silent string) string {
	var b strings.Builder
	placed, unknown, lies := 0, 0, 0
	for _, a := range answers {
		switch {
		case a.placed || a.unnamed(silent):
			placed++
			continue
		case a.found.Cause == cause.Unknown:
			unknown++
		case a.lies(silent):
			lies++
		}
		fmt.Fprintf(&b, "\n  %s", a)
	}
	return fmt.Sprintf("%d calls: %d right and in the right place, %d wrong (%d of them sure), %d unknown%s",
		len(answers), placed, len(answers)-placed-unknown, lies, unknown, b.String())
}

// matrix is the confusion matrix, as a table of Markdown.
func matrix(answers []answer) string {
	count := map[[2]string]int{}
	var rows, columns []string
	note := func(list *[]string, word string) {
		if !slices.Contains(*list, word) {
			*list = append(*list, word)
		}
	}
	for _, a := range answers {
		done := a.trace.Label.Cause
		if a.right {
			done = string(a.found.Cause) // one of several that say the same
		}
		note(&rows, done)
		note(&columns, string(a.found.Cause))
		count[[2]string{done, string(a.found.Cause)}]++
	}
	slices.Sort(rows)
	slices.Sort(columns)
	var b strings.Builder
	fmt.Fprintf(&b, "| done, found | %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)+1))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, column := range columns {
			cell := ""
			if n := count[[2]string{row, column}]; n > 0 {
				cell = strconv.Itoa(n)
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}
