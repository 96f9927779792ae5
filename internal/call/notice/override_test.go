package notice

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The times of an override are those of all reasons but those with their own; what is absent is the
// base's.
//
// spec: OUT-02
func TestOverride(t *testing.T) {
	var o Override
	require.NoError(t, json.Unmarshal([]byte(`{"windowMs":600000,"holdDownMs":0,"reasons":{
		"lowQuality":{"windowMs":7200000,"threshold":0,"minSamples":5,"limit":2.5,"interval":false,"individual":true},
		"failedConferences":{"individual":false,"recoveryMs":1000}}}`), &o))
	require.Nil(t, o.Check())
	base := DefaultRules()
	got := o.Over(base)
	require.Equal(t, Rule{Limit: 2.5, MinSamples: 5, Window: 2 * time.Hour, Recovery: 5 * time.Minute, Individual: true}, got.Of(LowQuality))
	require.Equal(t, Rule{Threshold: 0.05, MinSamples: 20, Window: 10 * time.Minute, Recovery: time.Second, Interval: true}, got.Of(FailedConferences))
	want := base.Of(HighPacketLoss)
	want.Window, want.HoldDown = 10*time.Minute, 0
	require.Equal(t, want, got.Of(HighPacketLoss))
	require.Equal(t, base, (*Override)(nil).Over(base))
	require.Equal(t, DefaultRules(), base)
	require.Equal(t, 2*time.Hour+2*time.Minute, got.Reach())
}

// Each member has bounds, which the fault names with the path of the member.
//
// spec: OUT-02
func TestOverrideBounds(t *testing.T) {
	rule := func(r Reason, one RuleOverride) Override { return Override{Reasons: map[Reason]RuleOverride{r: one}} }
	times := func(t Times) Override { return Override{Times: t} }
	for want, o := range map[string]Override{
		"windowMs must be 60000 to 86400000 ms (got 59999)":                                 times(Times{WindowMs: new(int64(59_999))}),
		"windowMs must be 60000 to 86400000 ms (got 86400001)":                              times(Times{WindowMs: new(int64(86_400_001))}),
		"holdDownMs must be 0 to 604800000 ms (got -1)":                                     times(Times{HoldDownMs: new(int64(-1))}),
		"recoveryMs must be 0 to 604800000 ms (got 604800001)":                              times(Times{RecoveryMs: new(int64(604_800_001))}),
		"reasons.lowQuality.windowMs must be 60000 to 86400000 ms (got 0)":                  rule(LowQuality, RuleOverride{Times: Times{WindowMs: new(int64(0))}}),
		"reasons.lowQuality.threshold must be at least 0 and below 1 (got 1)":               rule(LowQuality, RuleOverride{Threshold: new(1.0)}),
		"reasons.lowQuality.threshold must be at least 0 and below 1 (got NaN)":             rule(LowQuality, RuleOverride{Threshold: new(math.NaN())}),
		"reasons.lowQuality.minSamples must be 1 to 1000000 (got 0)":                        rule(LowQuality, RuleOverride{MinSamples: new(0)}),
		"reasons.lowQuality.minSamples must be 1 to 1000000 (got 1000001)":                  rule(LowQuality, RuleOverride{MinSamples: new(1_000_001)}),
		"reasons.lowQuality.limit must be 1 to 5 (got 5.1)":                                 rule(LowQuality, RuleOverride{Limit: new(5.1)}),
		"reasons.lowQuality.limit must be 1 to 5 (got 0.9)":                                 rule(LowQuality, RuleOverride{Limit: new(0.9)}),
		"reasons.highPacketLoss.limit must be 0 to 1 (got 1.5)":                             rule(HighPacketLoss, RuleOverride{Limit: new(1.5)}),
		"reasons.failedConferences.limit must be left out: an outcome has no limit (got 0)": rule(FailedConferences, RuleOverride{Limit: new(0.0)}),
		"reasons.dissatisfactoryUserFeedback.limit must be 1 to 5 (got NaN)":                rule(DissatisfactoryUserFeedback, RuleOverride{Limit: new(math.NaN())}),
		"reasons.fails must be left out: known here are " + "failedConferences, partiallyFailedConferences, " +
			"droppedConferences, highSetupDelays, highRoundTripTime, highPacketLoss, lowQuality, dissatisfactoryUserFeedback, preCallFailures (got a rule)": rule("fails", RuleOverride{}),
	} {
		fault := o.Check()
		require.NotNil(t, fault, want)
		require.Equal(t, want, fault.Error())
	}
	for _, r := range Reasons {
		bounds, has := limits[r]
		require.Equal(t, has, r.HasLimit())
		for _, limit := range bounds {
			if has {
				o := rule(r, RuleOverride{Limit: &limit, Threshold: new(0.0), MinSamples: new(MaxMinSamples)})
				require.Nil(t, o.Check())
			}
		}
		o := Override{}
		base := DefaultRules()
		base[r.index()].Limit = limits[r][0]
		require.Equal(t, base, o.Over(base))
	}
	edges := times(Times{WindowMs: new(MinWindow.Milliseconds()), HoldDownMs: new(MaxHoldDown.Milliseconds()), RecoveryMs: new(int64(0))})
	require.Nil(t, edges.Check())
}

// Windows of other lengths or limits are other windows; thresholds and hold-downs change none.
func TestCountsAs(t *testing.T) {
	base := DefaultRules()
	for _, same := range []func(*Rule){
		func(*Rule) {}, func(r *Rule) { r.Threshold = 0.9 }, func(r *Rule) { r.MinSamples = 1 },
		func(r *Rule) { r.HoldDown, r.Recovery = 0, 0 }, func(r *Rule) { r.Individual = !r.Individual },
	} {
		next := DefaultRules()
		same(&next[7])
		require.True(t, base.CountsAs(&next))
	}
	for _, other := range []func(*Rule){
		func(r *Rule) { r.Window++ }, func(r *Rule) { r.Limit++ }, func(r *Rule) { r.Interval = false },
	} {
		next := DefaultRules()
		other(&next[7])
		require.False(t, base.CountsAs(&next))
	}
}

// A reason has its own window, and its notification the window's period.
//
// spec: OUT-02
func TestWindowOfAReason(t *testing.T) {
	rules := DefaultRules()
	for i := range rules {
		rules[i].MinSamples = 2
	}
	rules[0].Window, rules[6].Window = 10*time.Minute, 2*time.Hour
	tr := NewTracker(func(string) *Rules { return &rules })
	for _, age := range []time.Duration{5 * time.Minute, 30 * time.Minute, 90 * time.Minute} {
		tr.Add("demo", noon.Add(-age), noon, Fact{Outcome: "totallyFailed", MOS: new(1.0)})
	}
	changes := tr.step(noon)
	require.Len(t, changes, 1, "one failure is too few")
	require.Equal(t, []any{LowQuality, 3, 3}, []any{changes[0].Reason, changes[0].Count, changes[0].Total})
	require.Equal(t, noon.Add(-2*time.Hour).Truncate(2*time.Minute), changes[0].From)

	// Another tracker's count takes the place of an app's, and its state stays.
	other := NewTracker(func(string) *Rules { return &rules })
	for range 2 {
		other.Add("demo", noon, noon, Fact{Outcome: "totallyFailed", MOS: new(5.0)})
	}
	tr.Recount("demo", other)
	changes = tr.step(noon)
	require.Len(t, changes, 1)
	require.Equal(t, []any{FailedConferences, 2, 2}, []any{changes[0].Reason, changes[0].Count, changes[0].Total})
	require.True(t, tr.Statuses("demo")[LowQuality].Firing)
}

// A reason that fires recovers without any sample too, as after a restart in a quiet hour.
//
// spec: OUT-02
func TestRecoveryWithoutSamples(t *testing.T) {
	rules := DefaultRules()
	tr := NewTracker(func(string) *Rules { return &rules })
	tr.Restore("demo", map[Reason]Status{LowQuality: {Episode: 3, Firing: true, TriggeredMs: noon.UnixMilli()}})
	require.Empty(t, tr.step(noon.Add(time.Hour)))
	changes := tr.step(noon.Add(time.Hour + rules.Of(LowQuality).Recovery))
	require.Len(t, changes, 1)
	require.Equal(t, []any{LowQuality, true, 3, 0}, []any{changes[0].Reason, changes[0].Resolved, changes[0].Next.Episode, changes[0].Total})
}
