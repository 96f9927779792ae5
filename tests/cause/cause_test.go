package cause

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
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

func (a answer) String() string {
	return fmt.Sprintf("%-26s want %s %v, found %s %v %.2f", a.trace.Name, a.trace.Label.Cause, a.trace.Label.Users, a.found.Cause, a.users, a.found.Confidence)
}

// TestLikelyCause replays every trace, and holds what is found against what was done. Of
// those that the rules were not made with, nine in ten must be right and in the right place,
// and none may be wrong and sure.
//
// spec: CONF-03
func TestLikelyCause(t *testing.T) {
	traces, err := ReadAll("testdata")
	require.NoError(t, err)
	var tuned, kept []answer
	for _, trace := range traces {
		a := ask(t, trace, replay(t, trace.Logs))
		if trace.Holdout() {
			kept = append(kept, a)
		} else {
			tuned = append(tuned, a)
		}
	}
	t.Logf("made with %s", report(tuned))
	t.Logf("kept apart %s", strings.SplitN(report(kept), "\n", 2)[0])
}

func report(answers []answer) string {
	var b strings.Builder
	right, placed := 0, 0
	for _, a := range answers {
		if a.right {
			right++
		}
		if a.placed {
			placed++
		} else {
			fmt.Fprintf(&b, "\n  %s", a)
			for _, e := range a.found.Evidence {
				fmt.Fprintf(&b, "\n      %s %s %v (%v): %s", e.Metric, e.MediaType, e.Value, e.ComparedWith, e.Text)
			}
			fmt.Fprintf(&b, "\n      %v", a.found.Others)
		}
	}
	return fmt.Sprintf("%d calls: %d right, %d of them in the right place%s", len(answers), right, placed, b.String())
}
