package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// hangUp is a call of 12 s that is hung up; the measurement of its last 2 s follows.
func hangUp() (before []event.Event, terminated, last event.Event) {
	measured := func(seq uint64, atMs int64, intervalMs, packets float64) event.Event {
		e := conferencetest.Event("a", seq, atMs, "")
		e.Kind, e.Measured = event.KindStats, new(eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 1, IntervalMs: intervalMs}, eventtest.Values{
			protocol.Packets: packets, protocol.PacketsLost: 0,
		}))
		return e
	}
	before = []event.Event{conferencetest.Event("a", 1, 0, "fabricAdded"), conferencetest.Event("a", 2, 0, "fabricSetup"), measured(3, 10_000, 10_000, 500)}
	terminated = conferencetest.Event("a", 4, 12_000, "fabricTerminated")
	terminated.Data = event.ParseData("fabricTerminated", []byte(`{"reason":"application","measurementFollows":true}`))
	return before, terminated, measured(5, 12_000, 2000, 100)
}

func requireWhole(t *testing.T, s conference.Summary) {
	t.Helper()
	require.Equal(t, conference.OutcomeSuccess, s.Outcome)
	require.Equal(t, int64(12_000), s.DurationMs)
	fabric := s.Participants[0].Fabrics[0]
	require.Equal(t, []any{"application", int64(12_000)}, []any{fabric.EndReason, fabric.EndMs - conferencetest.Base})
	require.Equal(t, 2, fabric.Streams[0].Intervals)
	require.InDelta(t, 600, fabric.Streams[0].Packets, 0)
}

// TestLastMeasurementFollowsTheEnd: the measurement that a fabricTerminated announces is part
// of the one summary, though it arrives after it.
//
// spec: FAB-08, CONF-02
func TestLastMeasurementFollowsTheEnd(t *testing.T) {
	s := newSet(2, 600_000)
	before, terminated, last := hangUp()
	for _, e := range append(before, terminated) {
		apply(t, s, e)
	}
	require.Empty(t, tick(s, conferencetest.Base+12_001), "it waits")
	require.Equal(t, live.Applied, s.Apply(&last, conferencetest.Base+12_900))
	require.Empty(t, tick(s, conferencetest.Base+14_000), "2 s")
	out := tick(s, conferencetest.Base+15_000)
	require.Len(t, out, 1)
	require.Equal(t, 1, out[0].Revision)
	requireWhole(t, out[0])
	require.Zero(t, s.Live())
}

// TestSummaryOfAHangUpIsNotLate: a conference that was checked while it went on, and is due 30 s after its last record
// then, has its summary once the last measurement may have arrived.
//
// spec: FAB-08, CONF-02
func TestSummaryOfAHangUpIsNotLate(t *testing.T) {
	s := newSet(2, 600_000)
	before, terminated, last := hangUp()
	for _, e := range before {
		apply(t, s, e)
	}
	require.Empty(t, tick(s, conferencetest.Base+11_000), "it goes on")
	apply(t, s, terminated)
	require.Equal(t, live.Applied, s.Apply(&last, conferencetest.Base+12_100))
	require.Empty(t, tick(s, conferencetest.Base+12_500), "it waits")
	require.Empty(t, tick(s, conferencetest.Base+14_000), "2 s")
	out := tick(s, conferencetest.Base+15_000)
	require.Len(t, out, 1)
	requireWhole(t, out[0])
	require.Empty(t, tick(s, conferencetest.Base+50_000), "the later check finds nothing new")
}

// TestLastMeasurementIsWaitedForOnce: a fabric that has ended is ended, whatever else arrives.
//
// spec: FAB-08, CONF-02
func TestLastMeasurementIsWaitedForOnce(t *testing.T) {
	s := newSet(2, 600_000)
	before, terminated, last := hangUp()
	for _, e := range append(before, terminated) {
		apply(t, s, e)
	}
	for seq := range uint64(30) { // the same time again and again: it keeps nothing alive
		again := last
		again.Seq = 100 + seq
		again.Measured = nil
		require.Equal(t, live.Applied, s.Apply(&again, conferencetest.Base+12_000+100*int64(seq)))
	}
	require.Len(t, tick(s, conferencetest.Base+15_000), 1)

	require.Equal(t, live.Applied, s.Apply(&last, conferencetest.Base+20_000), "far too late")
	out := tick(s, conferencetest.Base+20_001)
	require.Len(t, out, 1, "a revision, without another wait")
	require.Equal(t, 2, out[0].Revision)
	requireWhole(t, out[0])
}

// TestEndWithoutMeasurementIsAtOnce: who announces none waits for none.
//
// spec: CONF-02
func TestEndWithoutMeasurementIsAtOnce(t *testing.T) {
	s := newSet(2, 600_000)
	before, terminated, last := hangUp()
	terminated.Data = event.ParseData("fabricTerminated", []byte(`{"reason":"application"}`))
	for _, e := range append(before, terminated) {
		apply(t, s, e)
	}
	require.Len(t, tick(s, conferencetest.Base+12_001), 1)
	require.Equal(t, live.Applied, s.Apply(&last, conferencetest.Base+12_100))
	out := tick(s, conferencetest.Base+12_101)
	require.Len(t, out, 1)
	requireWhole(t, out[0])
}
