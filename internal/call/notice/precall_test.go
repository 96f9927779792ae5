package notice

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func test(failed bool, providers map[string]bool) Fact {
	return Fact{PreCall: &failed, Providers: providers}
}

// preCallRules notify when more than half of two tests failed.
func preCallRules() *Rules {
	r := DefaultRules()
	rule := &r[PreCallFailures.index()]
	rule.Threshold, rule.MinSamples, rule.Recovery = 0.5, 2, 0
	return &r
}

// TestPreCallFailures: the share of all tests and that of each provider notify on their own, recover on their own, and keep
// their states over a restart.
//
// spec: OUT-05
func TestPreCallFailures(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rules := preCallRules()
	tracker := NewTracker(func(string) *Rules { return rules })
	for range 3 {
		tracker.Add("demo", now, now, test(false, map[string]bool{"eu-1": true, "eu/2": false}))
	}
	changes := tracker.Evaluate(now)
	require.Len(t, changes, 1)
	c := changes[0]
	require.Equal(t, []any{PreCallFailures, "eu-1", 3, 3, "preCallFailures/eu-1"}, []any{c.Reason, c.Provider, c.Count, c.Total, c.About()})
	m := Interval(c, "https://qos.example.org/")
	require.Equal(t, "https://qos.example.org/search?app=demo&failed=true&from="+ms(c.From)+"&provider=eu-1&reason=preCallFailures&to="+ms(now.Add(time.Millisecond)), m.URL)
	require.Contains(t, m.Text, "3 of 3 pre-call tests of provider eu-1 of app demo failed (100.0 %, above the threshold of 50.0 %)")
	tracker.Commit(c)
	require.Empty(t, tracker.Evaluate(now))

	for range 4 {
		tracker.Add("demo", now, now, test(true, nil))
	}
	changes = tracker.Evaluate(now)
	require.Len(t, changes, 1)
	require.Equal(t, "preCallFailures", changes[0].About())
	require.Equal(t, []int{4, 7}, []int{changes[0].Count, changes[0].Total})
	require.Contains(t, Interval(changes[0], "").Text, "4 of 7 pre-call tests of app demo failed")
	require.NotContains(t, Interval(changes[0], "").URL, "provider")
	states := tracker.With(changes[0])
	require.True(t, states["preCallFailures/eu-1"].Firing)

	again := NewTracker(func(string) *Rules { return rules })
	again.Restore("demo", states)
	later := now.Add(2 * time.Hour)
	changes = again.Evaluate(later)
	require.Len(t, changes, 2)
	for i, provider := range []string{"", "eu-1"} {
		require.Equal(t, provider, changes[i].Provider)
		require.True(t, changes[i].Resolved)
		again.Commit(changes[i])
	}
	require.Empty(t, again.Evaluate(later))
}

// TestProvidersAreBounded: clients name providers, so windows and states of them are few.
func TestProvidersAreBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rules := preCallRules()
	tracker := NewTracker(func(string) *Rules { return rules })
	for i := range 10 * maxProviders {
		at := now.Add(time.Duration(i/maxProviders) * 2 * time.Hour)
		for range 2 {
			tracker.Add("demo", at, at, test(false, map[string]bool{fmt.Sprint("p", i): true}))
		}
		for _, c := range tracker.Evaluate(at) {
			tracker.Commit(c)
		}
		require.LessOrEqual(t, len(tracker.apps["demo"].providers), maxProviders)
		require.LessOrEqual(t, len(tracker.apps["demo"].status), reasons+maxStates+maxProviders)
	}
	require.Greater(t, len(tracker.apps["demo"].status), maxProviders)
}
