package cause

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/cause"
)

// draws are calls that a seeded draw arranged, with what is answered about them. It is no goal.
// docs/cause.md has the tables, and what the rules of the day said of each draw when they were
// measured with it, once.
var draws = []struct {
	dir          string
	calls, right int // right and in the right place
	wrong, lies  int // lies: wrong, with a confidence of confident or more
}{
	{dir: "testdata/fresh", calls: 42, right: 36, wrong: 2},  // the rules were made with these since: they measure nothing any more. Two calls to which nothing was done have frozen video, and one with jitter is excellent all the same
	{dir: "testdata/second", calls: 28, right: 24, wrong: 2}, // likewise
	{dir: "testdata/third", calls: 33, right: 33},            // these measured the rules
}

// TestFreshCalls replays the calls that were drawn. A rule that answers them otherwise is a new
// one, and has to be measured with new ones.
//
// spec: CONF-03
func TestFreshCalls(t *testing.T) {
	for _, draw := range draws {
		t.Run(draw.dir, func(t *testing.T) {
			all := answers(t, draw.dir, nil)
			t.Logf("%s\nwhat was done by row, what was found by column:\n%s", report(all, ""), matrix(all))
			require.Len(t, all, draw.calls)
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
			require.GreaterOrEqual(t, right, draw.right, report(all, ""))
			require.LessOrEqual(t, wrong, draw.wrong, report(all, ""))
			require.LessOrEqual(t, lies, draw.lies, report(all, ""))
		})
	}
}
