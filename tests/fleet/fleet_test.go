package fleet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/tests/fleet"
)

var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// config is a fleet without measurements.
func config(conferences int) fleet.Config {
	cfg := fleet.DefaultConfig(monday)
	cfg.Conferences, cfg.Interval = conferences, 0
	return cfg
}

// digest is a hash of all events of a day.
func digest(d *fleet.Day) string {
	h := sha256.New()
	for step := range d.Steps() {
		for _, e := range fleet.Events(&step) {
			_, _ = fmt.Fprintln(h, e.AppID, e.ConferenceID, e.Session, e.UserID, e.Seq, e.Index, e.AtMs, e.Fabric, e.Kind, e.Name, e.Text, e.Function)
			if e.Measured != nil {
				for k, v := range e.Measured.All() {
					_, _ = fmt.Fprintln(h, e.Measured.StatsType, e.Measured.MediaType, e.Measured.SSRC, k, fmt.Sprintf("%.6g", v))
				}
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// TestDayIsDeterministic: the day is a function of its configuration.
func TestDayIsDeterministic(t *testing.T) {
	cfg := fleet.DefaultConfig(monday)
	cfg.Conferences = 30
	require.Equal(t, "2b3a8de7d676dbf6", digest(fleet.Draw(cfg)))
	again := fleet.Draw(cfg)
	first := digest(again)
	require.Equal(t, first, digest(again), "steps can be drawn again")
	cfg.Seed = 2
	require.NotEqual(t, digest(again), digest(fleet.Draw(cfg)))
}

// TestStepsAreInOrder: times ascend, and so do the numbers of each session without a gap.
func TestStepsAreInOrder(t *testing.T) {
	d := fleet.Draw(fleet.DefaultConfig(monday))
	last, seqs := int64(0), map[string]uint64{}
	for step := range d.Steps() {
		require.GreaterOrEqual(t, step.AtMs, last)
		last = step.AtMs
		require.Equal(t, seqs[step.Session.ID]+1, step.Seq)
		seqs[step.Session.ID] = step.Seq
	}
	require.Less(t, last, monday.Add(24*time.Hour).UnixMilli())
	require.GreaterOrEqual(t, d.Conferences[0].StartMs, monday.UnixMilli())
}

// TestLogsAreTheEvents: both encodings of a step are the same events.
func TestLogsAreTheEvents(t *testing.T) {
	cfg := fleet.DefaultConfig(monday)
	cfg.Conferences = 60
	kinds := map[string]int{}
	for step := range fleet.Draw(cfg).Steps() {
		items := eventlog.Read(fleet.Logs(&step))
		events := fleet.Events(&step)
		require.Len(t, items, len(events))
		for i := range items {
			require.Equal(t, events[i], items[i].Event)
			kinds[fmt.Sprint(events[i].Kind)]++
		}
	}
	require.Len(t, kinds, 5, "measurements, events, errors, feedback, skips")
}

// fold returns the summaries that the registry of live conferences emits for a day.
func fold(t *testing.T, d *fleet.Day) (all []conference.Summary) {
	t.Helper()
	set := live.NewSet(live.Config{MaxConferences: 100_000, KeepEndedMs: 600_000, Labels: quality.DefaultBounds()})
	tick := func(atMs int64) {
		for more := true; more; {
			var some []conference.Summary
			some, more = set.Tick(atMs, 256)
			all = append(all, some...)
		}
	}
	second := monday.UnixMilli()
	for step := range d.Steps() {
		for ; second+5000 <= step.AtMs; second += 5000 {
			tick(second)
		}
		for _, e := range fleet.Events(&step) {
			result := set.Apply(&e, step.AtMs)
			require.Contains(t, []live.Result{live.Applied, live.Waiting}, result)
		}
	}
	for end := second + 3600_000; second <= end; second += 5000 {
		tick(second)
	}
	return all
}

// TestConferencesAreThoseOfTheScript: the fold finds each conference once, and every outcome.
//
// spec: CONF-05
func TestConferencesAreThoseOfTheScript(t *testing.T) {
	d := fleet.Draw(fleet.DefaultConfig(monday))
	outcomes, seen := map[conference.Outcome]int{}, map[string]bool{}
	for _, s := range fold(t, d) {
		if s.Revision == 1 {
			require.False(t, seen[s.ConferenceID], s.ConferenceID)
			seen[s.ConferenceID] = true
			outcomes[s.Outcome]++
		}
	}
	t.Log(outcomes)
	require.Len(t, seen, len(d.Conferences))
	for _, o := range conference.Outcomes {
		require.NotZero(t, outcomes[conference.Outcome(o)], o)
	}
	require.Greater(t, outcomes[conference.OutcomeSuccess], 400)
}

// TestPlantedCausesShow: a large fleet has each planted cause in the strength that it names.
func TestPlantedCausesShow(t *testing.T) {
	d := fleet.Draw(config(20_000))
	cfg := config(20_000)
	for i := range cfg.Planted {
		cfg.Planted[i].Effect = fleet.Effect{}
	}
	cfg.Planted = append(cfg.Planted, fleet.Planted{Name: "everywhere"})
	calm := fleet.Draw(cfg)
	everywhere := calm.Planted[len(d.Planted)]
	usual := float64(everywhere.Failed) / float64(everywhere.Fabrics)
	for i, c := range d.Planted {
		without := calm.Planted[i]
		t.Logf("%s: %d of %d fabrics failed, without it %d; %d errors, without it %d", c.Name, c.Failed, c.Fabrics, without.Failed, c.Errors, without.Errors)
		require.Equal(t, without.Fabrics, c.Fabrics, "the scope is the same")
		rate := float64(c.Failed) / float64(c.Fabrics) / usual
		switch {
		case c.FailureFactor > 0:
			require.InDelta(t, c.FailureFactor, rate, 0.4*c.FailureFactor, c.Name)
		case c.RelaysFail:
			require.Greater(t, rate, 5.0, c.Name)
		case c.ErrorFactor > 0:
			require.InDelta(t, c.ErrorFactor, float64(c.Errors)/float64(without.Errors), 0.2*c.ErrorFactor, c.Name)
		}
	}
}

// TestDayHasHours: the load follows the clock.
func TestDayHasHours(t *testing.T) {
	var hours [24]int
	for _, c := range fleet.Draw(config(5000)).Conferences {
		hours[time.UnixMilli(c.StartMs).UTC().Hour()]++
	}
	require.Greater(t, hours[10], 20*hours[2])
	require.Greater(t, hours[14], 2*hours[18])
}
