package webhook

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// pair starts two collectors on one database. The first has the lease.
func pair(t *testing.T, r *receiver, rules string) (leader, follower deployment) {
	t.Helper()
	store, key := harness.Postgres(postgrestest.Database(t)), filepath.Join(t.TempDir(), "key")
	leader = deployOn(t, r, rules, store, key)
	call(t, leader.Collector, "first", true)
	r.await(t, 1) // it delivers: it has the lease
	return leader, deployOn(t, r, rules, store, key)
}

// deliveries returns the attempts of a collector that were answered.
func (d deployment) deliveries() float64 { return d.Metrics().Sum("otelcol_qoswebhook_deliveries") }

// points returns how many conferences and ratings a collector recorded for windows.
func (d deployment) points() float64 { return d.Metrics().Sum("otelcol_qoswebhook_points") }

// Two collectors serve conferences of one app: the window is computed over all of them, a conference
// that both served counts once, and each notification leaves once.
//
// spec: OUT-02, OUT-03, OUT-05
func TestTwoCollectorsCountTogether(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	leader, follower := pair(t, r, `failedConferences: {threshold: 0.5, min_samples: 8}`)
	for i := range 3 {
		call(t, leader.Collector, fmt.Sprint("a ", i), i > 0)
		call(t, follower.Collector, fmt.Sprint("b ", i), i > 0)
	}
	call(t, follower.Collector, "of both", true)
	call(t, leader.Collector, "of both", true)
	individual := map[string]int{}
	var interval []notification
	require.Eventually(t, func() bool {
		clear(individual)
		interval = nil
		for _, n := range r.all() {
			if n.body["triggerType"] == "interval" {
				interval = append(interval, n)
			} else {
				individual[n.header.Get("webhook-id")]++
			}
		}
		return len(individual) == 6 && len(interval) == 1
	}, harness.Patience, 20*time.Millisecond)
	for id, n := range individual {
		require.Equal(t, 1, n, id)
	}
	require.Equal(t, []any{6.0, 0.75}, []any{interval[0].body["actualValue"], interval[0].body["fractionalValue"]}, "6 of 8")
	require.Equal(t, []string{"a 1", "a 2", "b 1", "b 2", "first", "of both"}, follow(t, interval[0].body["url"].(string)))
	require.Zero(t, follower.deliveries())
	require.Eventually(t, func() bool { return leader.deliveries() == 7 }, harness.Patience, 20*time.Millisecond)
}

// The collector with the lease is killed while a receiver has its request: the other one takes over
// and sends what was not answered again, under its id, and everything else once.
//
// spec: OUT-03
func TestTheLeaderDies(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	leader, follower := pair(t, r, "")
	require.Eventually(t, func() bool { return leader.deliveries() == 1 }, harness.Patience, 20*time.Millisecond)
	r.held.Store(true)
	call(t, leader.Collector, "under way", true)
	held := r.await(t, 2)[1].header.Get("webhook-id")
	call(t, leader.Collector, "queued by the leader", true)
	call(t, follower.Collector, "of the follower", true)
	require.Eventually(t, func() bool { return leader.points() == 3 && follower.points() == 1 }, harness.Patience, 20*time.Millisecond)
	call(t, leader.Collector, "without a summary", true)
	leader.Kill()
	killed := time.Now()
	r.held.Store(false)
	call(t, follower.Collector, "after the kill", true)
	got := r.await(t, 6)
	t.Logf("the first attempt of the other collector came %s after the kill", got[2].at.Sub(killed).Round(time.Millisecond))
	sent := map[string]int{}
	for _, n := range got {
		sent[n.header.Get("webhook-id")]++
	}
	require.Len(t, sent, 5, "first, under way, and three that nobody had sent")
	for id, n := range sent {
		want := 1
		if id == held {
			want = 2
		}
		require.Equal(t, want, n, id)
	}
	require.Eventually(t, func() bool { return follower.deliveries() == 4 }, harness.Patience, 20*time.Millisecond)

	// The killed one comes back. It has no lease to take, and a conference to summarise.
	leader.Start()
	call(t, leader.Collector, "after the restart", true)
	require.Eventually(t, func() bool { return follower.deliveries() == 6 }, harness.Patience, 20*time.Millisecond)
	require.Zero(t, leader.deliveries())
	var text strings.Builder
	for _, n := range r.await(t, 8) {
		text.Write(n.text)
	}
	require.Len(t, r.all(), 8)
	require.Contains(t, text.String(), "without a summary")
}

// The other collector takes over from one that is stopped as an operator does, and sends nothing again.
//
// spec: OUT-03
func TestTheLeaderStops(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	leader, follower := pair(t, r, "")
	leader.Stop()
	call(t, follower.Collector, "after the stop", true)
	got := r.await(t, 2)
	require.NotEqual(t, got[0].header.Get("webhook-id"), got[1].header.Get("webhook-id"))
}
