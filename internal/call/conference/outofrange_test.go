package conference_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestUnknownLoss: the loss of a stream is unknown, not 0, if no measurement counts losses; one
// measurement that does makes it known.
//
// spec: CONF-03
func TestUnknownLoss(t *testing.T) {
	f := func(want any, uncounted ...bool) {
		t.Helper()
		var events []event.Event
		for i, is := range uncounted {
			m := eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000}, eventtest.Values{protocol.Packets: 100, protocol.Bytes: 8000})
			if !is {
				m.Set(protocol.PacketsLost, 0)
			}
			events = append(events, conferencetest.Stats("a", uint64(i+1), m))
		}
		loss := conferencetest.Fold(events, quality.DefaultBounds()).Participants[0].Fabrics[0].Streams[0].LossFraction
		if want == nil {
			require.Nil(t, loss)
			return
		}
		require.NotNil(t, loss)
		require.InDelta(t, want, *loss, 0)
	}
	f(nil, true, true)
	f(0.0, false)
	f(0.0, true, false)
}

// TestNonsenseIsCounted: the summary counts counters that jump and an SSRC that changes its
// kind, and contains the rest.
func TestNonsenseIsCounted(t *testing.T) {
	well := eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000}, eventtest.Values{protocol.Packets: 100, protocol.Bytes: 8000, protocol.PacketsLost: 0})
	mad, video := well, well
	mad.Set(protocol.Packets, 1e15)
	mad.Set(protocol.RTTMs, -1)
	video.MediaType = "video"
	s := conferencetest.Fold([]event.Event{conferencetest.Stats("a", 1, well), conferencetest.Stats("a", 2, mad), conferencetest.Stats("a", 3, video)}, quality.DefaultBounds())
	require.Equal(t, 2, s.OutOfRange)
	require.Equal(t, 1, s.TwoKinds)
	streams := s.Participants[0].Fabrics[0].Streams
	require.Len(t, streams, 2)
	require.EqualValues(t, 100, streams[0].Packets)
}

// TestTenThousandParticipants: beyond the limit they are counted, and the summary is made.
func TestTenThousandParticipants(t *testing.T) {
	const participants, limit = 10_000, 5000
	c := conference.New("app", "c", nil, quality.DefaultBounds())
	for i := range participants {
		e := conferencetest.Stats(fmt.Sprint("session-", i), 1, eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: int64(i), IntervalMs: 2000}, eventtest.Values{protocol.Packets: 100, protocol.PacketsLost: 30}))
		e.RemoteType = "server"
		c.Apply(&e)
	}
	s := c.Summary(quality.DefaultBounds())
	require.Len(t, s.Participants, limit)
	require.Equal(t, participants-limit, s.Truncated)
}

// TestConferenceThatNeverEnds: a month of a call whose every measurement differs takes no
// more room than a bound.
func TestConferenceThatNeverEnds(t *testing.T) {
	const month, budget = 30 * 24 * 3600 / 10, 256 << 10
	before := conferencetest.Heap()
	c := conference.New("app", "c", nil, quality.DefaultBounds())
	for seq := range uint64(month) {
		v := float64(seq * 2654435761 % 1000)
		e := conferencetest.Stats("a", seq+1, eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 10_000, Score: event.Score{MOS: event.Known(1 + v/300)}}, eventtest.Values{
			protocol.Packets: v, protocol.PacketsLost: v / 5, protocol.Bytes: 90 * v, protocol.JitterMs: v / 9, protocol.RTTMs: v,
		}))
		e.AtMs = conferencetest.Base + int64(seq)*10_000
		c.Apply(&e)
	}
	size := int64(conferencetest.Heap()) - int64(before)
	t.Logf("%d bytes", size)
	require.Less(t, size, int64(budget))
	require.Equal(t, month, c.Summary(quality.DefaultBounds()).Participants[0].Fabrics[0].Streams[0].Intervals)
}
