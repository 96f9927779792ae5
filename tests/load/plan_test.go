package main

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/fleet"
)

func planned() *load {
	return newLoad(options{live: 3, ramp: time.Minute, lasts: 10 * time.Minute, length: time.Minute, interval: 10 * time.Second, seed: 1}, time.Now())
}

// TestPlan: a constant number of conferences is live after the ramp, until the end.
func TestPlan(t *testing.T) {
	l := planned()
	for after := l.ramp; after < l.ramp+l.lasts; after += time.Second {
		live := 0
		for _, s := range l.starts {
			end := s.after + time.Duration(s.conference.EndMs-s.conference.StartMs)*time.Millisecond
			if s.after <= after && after < end {
				live++
			}
		}
		require.Equal(t, l.live, live, after)
	}
}

// startedAt plays conferences that last for a time, and returns when each started, by conferenceID.
func startedAt(l *load, lasts time.Duration) map[string]time.Duration {
	var mu sync.Mutex
	started := map[string]time.Duration{}
	l.startAll(context.Background(), func(c *fleet.Conference, _ time.Time) {
		mu.Lock()
		started[c.ID] = time.Since(l.began)
		mu.Unlock()
		time.Sleep(lasts)
	})
	return started
}

// TestSlowCollectorDelaysNoStart: the conferences start as planned with a collector that acknowledges at once, and with one
// that acknowledges nothing, up to a bound. Conferences beyond it are counted.
func TestSlowCollectorDelaysNoStart(t *testing.T) {
	for lasts, bounded := range map[time.Duration]bool{0: false, time.Hour: true} {
		synctest.Test(t, func(t *testing.T) {
			l := planned()
			first := l.starts
			if bounded {
				first = first[:mostAtOnce(&l.options)]
			}
			want := map[string]time.Duration{}
			for _, s := range first {
				want[s.conference.ID] = s.after
			}
			require.Equal(t, want, startedAt(l, lasts))
			require.Equal(t, int64(len(first)), l.stats.conferences)
			require.Equal(t, int64(len(l.starts)-len(first)), l.stats.notStarted)
			err := l.stats.report(time.Hour).checkStarts()
			if !bounded {
				require.NoError(t, err)
				return
			}
			require.Positive(t, l.stats.notStarted)
			require.ErrorContains(t, err, "conferences were not started")
		})
	}
}

// TestLateStarts: a conference whose time has passed starts at once, and its lateness is recorded.
func TestLateStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := planned()
		const late = 40 * time.Second
		l.began = l.began.Add(-late)
		for id, at := range startedAt(l, 0) {
			require.GreaterOrEqual(t, at, late, id)
		}
		require.Equal(t, int64(len(l.starts)), l.stats.lateness.TotalCount())
		require.True(t, l.stats.lateness.ValuesAreEquivalent(late.Microseconds(), l.stats.lateness.Max()), l.stats.lateness.Max())
		require.Equal(t, int64(leastLatency), l.stats.lateness.Min())
	})
}

// TestFramesWithoutAConnection: frames that were due while no collector was there are not acknowledged.
func TestFramesWithoutAConnection(t *testing.T) {
	now := time.UnixMilli(10_000)
	e := &endpoint{steps: []fleet.Step{{AtMs: 9_000}, {AtMs: 10_000}, {AtMs: 10_001}}}
	require.Equal(t, int64(2), e.due(now))
	e.steps = nil
	require.Zero(t, e.due(now))
}
