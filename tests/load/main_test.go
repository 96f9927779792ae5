package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

func TestMain(m *testing.M) {
	harness.TestsAtOnce(4)
	harness.VerifyMain(m)
}

func small(c *harness.Collector) options {
	return options{
		url: c.URL(), app: harness.AppID, secret: harness.AppSecret, origin: harness.Origin, metrics: "http://" + c.Telemetry() + "/metrics",
		live: 6, ramp: time.Second, lasts: 8 * time.Second, length: 10 * time.Second, interval: 2 * time.Second, seed: 7,
	}
}

// TestLedger: a run is acknowledged, and the store has each acknowledged record once and no other.
//
// spec: SRV-03
func TestLedger(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(directory)})
	c.Start()
	o := small(c)
	o.store = filepath.Join(directory, "qos.sqlite3")
	r, err := run(t.Context(), o)
	require.NoError(t, err, "%s", r)
	t.Log("\n" + r.String())
	require.Positive(t, r.records)
	require.Equal(t, r.records, r.written)
	require.Equal(t, r.records, r.balance.stored)
	require.Equal(t, r.frames, r.acked)
	require.Equal(t, r.frames, r.latency.TotalCount())
	require.Zero(t, r.unacknowledged)
	require.Zero(t, r.refused, "%s", r)
	require.Empty(t, r.faults)
	require.GreaterOrEqual(t, r.conferences, int64(6))
	require.Equal(t, r.conferences, r.lateness.TotalCount())
	require.Zero(t, r.notStarted)
	c.Stop()
}

// TestCollectorIsKilled: pages resume on the collector that follows, and all is acknowledged and stored once.
func TestCollectorIsKilled(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(directory)})
	c.Start()
	o := small(c)
	o.store = filepath.Join(directory, "qos.sqlite3")
	o.metrics = "" // those of the second collector lack the records of the first
	done := make(chan *report, 1)
	go func() {
		r, err := run(t.Context(), o)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	require.Eventually(t, func() bool { return c.Metrics().Sum("otelcol_receiver_qoswss_frames_accepted") > 20 }, harness.Patience, 20*time.Millisecond)
	c.Kill()
	c.Start()
	r := <-done
	require.NotEmpty(t, r.faults)
	require.Equal(t, r.frames, r.acked, "%s", r)
	require.Zero(t, r.unacknowledged)
	c.Stop()
}

// TestSameSeed: the conferences of a seed and their starts are the same, and another seed has others.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	texts := func(seed uint64) (all []string) {
		now := time.UnixMilli(1_790_000_000_000)
		l := newLoad(options{live: 3, lasts: time.Minute, length: time.Minute, interval: 10 * time.Second, seed: seed}, now)
		for _, s := range l.starts {
			all = append(all, s.conference.ID+" starts after "+s.after.String())
		}
		for i := range l.day.Conferences {
			for _, step := range l.day.StepsOf(&l.day.Conferences[i]) {
				e := &endpoint{load: l, session: step.Session, sets: map[string]int{}}
				text, records := e.frame(&step, 1)
				require.Positive(t, records)
				all = append(all, text)
			}
		}
		return all
	}
	first, again := texts(1), texts(1)
	require.Equal(t, first, again)
	require.NotEqual(t, first, texts(2))
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := options{url: "http://localhost", app: "a", secret: "s", live: 1, lasts: time.Second, length: time.Minute, interval: 2 * time.Second}
	require.NoError(t, good.validate())
	for want, change := range map[string]func(*options){
		"url, app and secret are required": func(o *options) { o.secret = "" },
		"live must be positive (got 0)":    func(o *options) { o.live = 0 },
		"interval must be from 1s to 20s":  func(o *options) { o.interval = time.Minute },
		"length must be at least 10s":      func(o *options) { o.length = time.Second },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.validate(), want)
	}
}
