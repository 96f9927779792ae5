package cause

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// Values that cannot be true are unknown: a call with them is judged like the same call in which they were not measured. The
// reports are those of clients other than the library, which has tests of its own (client/test/lies.test.ts).

// shapes change the reports of a call to those of another browser.
var shapes = []func([]plog.Logs) []plog.Logs{asRecorded, asFirefox, asSafari}

func asRecorded(batches []plog.Logs) []plog.Logs { return batches }

// lied is a recorded call in the shape of a browser, with lies and without the measurements that lie.
type lied struct {
	name                   string
	before, after, without answer
}

// callsWithLies draws calls that fit, and changes a share of the intervals of each.
func callsWithLies(t *testing.T, fits func(answer) bool, share func(*rand.Rand) float64) (calls []lied) {
	t.Helper()
	var pool []*Trace
	for _, dir := range folders(4) {
		pool = append(pool, traces(t, dir)...)
	}
	source := rand.New(rand.NewPCG(41, 0))
	for wanted := testenv.Pick(100, 1000); len(calls) < wanted; {
		trace, seed, part := pool[source.IntN(len(pool))], source.Uint64(), share(source)
		if !fits(ask(t, trace, replay(t, trace))) {
			continue
		}
		logs := shapes[len(calls)%len(shapes)](trace.Logs)
		call := lied{name: fmt.Sprintf("%s, seed %d, %.2f", trace.Name, seed, part), before: ask(t, trace, Replay(t, logs))}
		if !fits(call.before) {
			continue
		}
		call.after = ask(t, trace, Replay(t, lie(logs, seed, part, false)))
		call.without = ask(t, trace, Replay(t, lie(logs, seed, part, true)))
		calls = append(calls, call)
	}
	return calls
}

const (
	mostOff     = 0.05 // of a score
	mostAgainst = 0.01 // of the calls: some are at the threshold of a rule
	fewCalls    = 2    // of a hundred that are drawn with this probability, at most so many in 92 of 100 draws
)

// few reports the calls of which a property does not hold.
func few(t *testing.T, calls int, against []string) {
	t.Helper()
	require.LessOrEqual(t, len(against), max(fewCalls, int(mostAgainst*float64(calls))), "%d of %d calls: %q", len(against), calls, against)
}

// TestLiesInHealthyCalls: with lies in up to half of the intervals, a healthy call has no issue and no cause, unless it has it
// without these measurements too, and a score that is within 0.05 of the scores of both.
//
// spec: CONF-03, CONF-05
func TestLiesInHealthyCalls(t *testing.T) {
	t.Parallel()
	healthy := func(a answer) bool {
		return a.trace.Label.Cause == string(cause.None) && a.found.Cause == cause.None && a.summary.MOS != nil
	}
	calls := callsWithLies(t, healthy, func(r *rand.Rand) float64 { return 0.1 + 0.4*r.Float64() })
	var against []string
	for i := range calls {
		if why := calls[i].worse(); why != "" {
			against = append(against, calls[i].name+": "+why)
		}
	}
	few(t, len(calls), against)
}

// worse returns what lies did to a healthy call, empty for nothing.
func (l *lied) worse() string {
	had := append(issuesOf(l.before.summary), issuesOf(l.without.summary)...)
	for _, issue := range issuesOf(l.after.summary) {
		if !slices.Contains(had, issue) {
			return "issue " + issue
		}
	}
	if found := l.after.found.Cause; found != cause.None && found != l.without.found.Cause {
		return "cause " + string(found)
	}
	if l.after.summary.MOS == nil {
		return "no score"
	}
	score, low, high := *l.after.summary.MOS, *l.before.summary.MOS, *l.before.summary.MOS
	if rest := l.without.summary.MOS; rest != nil {
		low, high = min(low, *rest), max(high, *rest)
	}
	if score < low-mostOff || score > high+mostOff {
		return fmt.Sprintf("score %.2f, not %.2f to %.2f", score, low, high)
	}
	return ""
}

// TestLiesInHarmedCalls: with lies in a fifth of the intervals, nine of ten harmed calls have the cause that they had. Nobody
// is named instead, unless without these measurements too.
//
// spec: CONF-03, CONF-05
func TestLiesInHarmedCalls(t *testing.T) {
	t.Parallel()
	located := func(a answer) bool {
		return a.trace.Label.Cause != string(cause.None) && a.placed && a.found.Cause != cause.Unknown
	}
	calls := callsWithLies(t, located, func(*rand.Rand) float64 { return 0.2 })
	same := 0
	var against []string
	for i := range calls {
		l := &calls[i]
		switch {
		case l.after.placed:
			same++
		case l.after.found.Cause == cause.Unknown, l.after.found.Cause == l.without.found.Cause && slices.Equal(l.after.users, l.without.users):
		default:
			against = append(against, l.name+": "+l.after.String())
		}
	}
	require.GreaterOrEqual(t, float64(same), goal*float64(len(calls)))
	few(t, len(calls), against)
}
