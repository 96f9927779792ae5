package cause

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/cause"
)

// What the rules answered when they were measured, once, with calls that they were not made
// with. It is no goal: goal was missed. docs/cause.md has the table.
const (
	freshCalls = 42
	freshRight = 36 // and in the right place
	freshWrong = 2
	freshLies  = 1 // of those that are wrong, with a confidence of confident or more
)

// TestFreshCalls replays the calls that a draw arranged. A rule that answers them otherwise
// is a new one, and has to be measured with new ones.
//
// spec: CONF-03
func TestFreshCalls(t *testing.T) {
	all := answers(t, "testdata/fresh", nil)
	t.Logf("the rules were measured with %s\nwhat was done by row, what was found by column:\n%s", report(all, ""), matrix(all))
	require.Len(t, all, freshCalls)
	right, wrong, lies := 0, 0, 0
	for _, a := range all {
		switch {
		case a.placed:
			right++
		case a.found.Cause != cause.Unknown:
			wrong++
		}
		if a.lies("") {
			lies++
		}
	}
	require.GreaterOrEqual(t, right, freshRight, report(all, ""))
	require.LessOrEqual(t, wrong, freshWrong, report(all, ""))
	require.LessOrEqual(t, lies, freshLies, report(all, ""))
}
