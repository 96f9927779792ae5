package notice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules of a history are those of their time; its length is bounded, and what is before it notifies nothing.
//
// spec: OUT-02
func TestHistoryIsBounded(t *testing.T) {
	base, now, h := DefaultRules(), time.UnixMilli(1_772_366_431_000), History{}
	limit := func(at time.Time) float64 {
		limit, _ := h.Limit(DissatisfactoryUserFeedback, at)
		return limit
	}
	h, from := h.Follow(&base, &base, time.Time{}, now)
	require.Equal(t, int64(0), from.UnixMilli(), "the first rules are in force since ever")
	require.InDelta(t, 2.0, limit(now.Add(-time.Hour)), 0)
	_, from = h.Follow(&base, &base, now, now)
	require.True(t, from.IsZero(), "nothing differs")
	rules := base
	for i := range 3 * maxSpans {
		rules[DissatisfactoryUserFeedback.index()].Limit = 1 + float64(i%4)
		set := now.Add(time.Duration(i) * time.Minute)
		h, from = h.Follow(&base, &rules, set, set.Add(10*time.Second))
		require.Equal(t, set, from)
		require.LessOrEqual(t, len(h.Spans[DissatisfactoryUserFeedback]), maxSpans)
	}
	last := now.Add((3*maxSpans - 1) * time.Minute)
	require.InDelta(t, 4.0, limit(last), 0)
	require.InDelta(t, 3.0, limit(last.Add(-time.Millisecond)), 0)
	require.Zero(t, limit(now), "before the oldest span")
	rules[DissatisfactoryUserFeedback.index()].Individual = false
	h, _ = h.Follow(&base, &rules, last.Add(keepSpans+time.Hour), last.Add(keepSpans+time.Hour))
	require.Len(t, h.Spans[DissatisfactoryUserFeedback], 2, "older ones apply to nothing")
}
