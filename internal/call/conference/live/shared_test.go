package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/quality"
)

// TestAnyPartAndTheStoreMakeTheWhole: for any part of the records that arrived here, in any order
// and division into batches by ticks, the summary after the restoration is that of all records.
// It is emitted once, and not again when the store has it.
//
// spec: CONF-02, SRV-03
func TestAnyPartAndTheStoreMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := append(conferencetest.Events(t, 25_000), conferencetest.Event("c", 1, 0, "audioMute"))
		spans, _, _ := components(events)
		require.Len(t, spans, 1)
		set := newSet(10, 3_600_000)
		set.Shared()
		for _, e := range conferencetest.Shuffled(t, events)[:rapid.IntRange(0, len(events)).Draw(t, "seen")] {
			require.Contains(t, []live.Result{live.Applied, live.Waiting, live.Duplicate}, set.Apply(&e, conferencetest.Base+30_000))
			if rapid.Bool().Draw(t, "tick") {
				require.Empty(t, tick(set, conferencetest.Base+30_000), "never without the store")
			}
		}
		const later = conferencetest.Base + 400_000
		restore := func(p live.Partial, stored conference.Summary) {
			switch {
			case !spans[0].Owns(p.AtMs):
				set.NotStored(p)
				return
			case set.IsComplete(p, spans[0]):
				return
			}
			set.Restoring(p, spans[0])
			for _, e := range conferencetest.Shuffled(t, events) {
				set.Restore(&e, later)
			}
			set.Restored(p, spans[0], stored, later)
		}
		out := tick(set, later)
		for parts := append(set.Partials(), live.Partial{AppID: "app", ConferenceID: "c", AtMs: spans[0].Start}); len(parts) > 0; parts = set.Partials() {
			for _, p := range parts {
				restore(p, conference.Summary{})
			}
			out = append(out, tick(set, later)...)
		}
		require.Len(t, out, 1)
		require.Equal(t, 1, out[0].Revision)
		require.JSONEq(t, conferencetest.JSON(t, conferencetest.Fold(events, quality.DefaultBounds())), conferencetest.JSON(t, out[0]))

		restore(live.Partial{AppID: "app", ConferenceID: "c", AtMs: spans[0].Start}, out[0])
		require.Empty(t, tick(set, later), "it is stored")
	})
}
