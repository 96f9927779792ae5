package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// While the issues or the summary of a conference are found, only its own records wait, and records of others are applied.
// spec: CONF-04
func TestAside(t *testing.T) {
	var s *live.Set
	asides, seq := 0, uint64(1)
	s = live.NewSet(live.Config{MaxConferences: 10, KeepEndedMs: 600_000, Labels: quality.DefaultBounds(), EvaluateMs: 1000, Aside: func(run func()) {
		asides++
		own, other := conferencetest.Event("a", 100, 5, "customEvent"), conferencetest.Event("b", seq, 5, "customEvent")
		require.True(t, s.IsAside(&own))
		require.False(t, s.IsAside(&other))
		run()
		require.Equal(t, live.Applied, s.Apply(&other, conferencetest.Base+5000))
		seq++
	}})
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricAdded"))
	apply(t, s, conferencetest.Event("a", 2, 3, "fabricTerminated"))
	out := tick(s, conferencetest.Base+4000)
	require.Len(t, out, 1)
	require.Equal(t, "a", out[0].ConferenceID)
	require.Equal(t, 1, asides)
	s.Evaluate(conferencetest.Base+5000, 10)
	require.Equal(t, 2, asides, "the last evaluation")
	own := conferencetest.Event("a", 3, 2, "customEvent")
	require.False(t, s.IsAside(&own))
	require.Equal(t, 1, s.Live(), "b")
}

// large applies a conference of so many streams that has ended.
func large(t *testing.T, s *live.Set, streams int) {
	t.Helper()
	for i := range streams {
		m := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio, SSRC: int64(i + 1), IntervalMs: 1000}, eventtest.Values{protocol.Packets: 50})
		e := conferencetest.Event("a", uint64(i)+1, 0, "")
		e.Kind, e.Measured, e.Fabric = event.KindStats, &m, 1+i/100
		apply(t, s, e)
	}
	for fabric := range 1 + (streams-1)/100 {
		e := conferencetest.Event("a", 10_000+uint64(fabric), 1, "fabricTerminated")
		e.Fabric = 1 + fabric
		apply(t, s, e)
	}
}

// logAt applies a log of that conference.
func logAt(t *testing.T, s *live.Set, ms int64) {
	t.Helper()
	e := conferencetest.Event("a", 20_000+uint64(ms), 1, "")
	e.Kind, e.Fabric = event.KindLog, 0
	applyAt(t, s, live.Applied, e, ms)
}

// The summary of a large conference, which one record can change, is not made again for each.
// spec: CONF-04, SRV-04
func TestLargeConferenceIsSummarisedNowAndThen(t *testing.T) {
	for streams, want := range map[int]int{10: 10, 1200: 5} { // each second, and each of those 1,212 ms after the last
		s := newSet(2, 600_000)
		large(t, s, streams)
		logs := 0
		for second := range int64(10) {
			logAt(t, s, 1000*second+10)
			for _, summary := range tick(s, conferencetest.Base+1000*second+10) {
				want--
				logs = summary.Logs
			}
		}
		require.Zero(t, want, "%d streams", streams)
		for second := range int64(3) {
			for _, summary := range tick(s, conferencetest.Base+10_000+1000*second) {
				logs = summary.Logs
			}
		}
		require.Equal(t, 10, logs, "the last record is in a summary")
	}
}

// A conference whose summary has to wait is summarised if its place is needed.
// spec: CONF-04
func TestReleasedWithChange(t *testing.T) {
	s := newSet(1, 600_000)
	large(t, s, 1200)
	require.Len(t, tick(s, conferencetest.Base+2), 1)
	logAt(t, s, 100)
	require.Empty(t, tick(s, conferencetest.Base+101), "it waits")
	apply(t, s, conferencetest.Event("b", 1, 200, "fabricAdded"))
	out := tick(s, conferencetest.Base+201)
	require.Len(t, out, 1)
	require.Equal(t, 2, out[0].Revision)
	require.Equal(t, 1, out[0].Logs)
}

// Conferences that change while others are checked are checked after them: records that arrive all the time do not keep
// the summaries from those who wait for them.
// spec: CONF-04
func TestCheckEnds(t *testing.T) {
	var s *live.Set
	seq, other := uint64(10), map[string]string{"a": "b", "b": "a"}
	s = live.NewSet(live.Config{MaxConferences: 10, KeepEndedMs: 600_000, Labels: quality.DefaultBounds(), Aside: func(run func()) {
		run()
		for id := range other { // whichever is not read now
			seq++
			e := conferencetest.Event(other[id], seq, 1, "customEvent")
			if !s.IsAside(&e) {
				require.Equal(t, live.Applied, s.Apply(&e, conferencetest.Base+2))
			}
		}
	}})
	for id := range other {
		apply(t, s, conferencetest.Event(id, 1, 0, "fabricTerminated"))
	}
	for range 5 {
		out, more := s.Tick(conferencetest.Base+1, 10)
		require.NotEmpty(t, out)
		require.False(t, more)
	}
}
