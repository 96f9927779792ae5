package conference_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/quality"
)

// TestUnlikely: what no stream can have is named and left out, the rest of the measurement
// stays.
//
// spec: CONF-03
func TestUnlikely(t *testing.T) {
	f := func(name string, spoil func(*conference.Stats)) {
		t.Helper()
		m := &conference.Stats{StatsType: "inbound-rtp", MediaType: "audio", IntervalMs: 2000, Packets: 100, Bytes: 8000, JitterMs: conference.Known(3)}
		require.Empty(t, m.Unlikely())
		spoil(m)
		require.Equal(t, []string{name}, m.Unlikely())
		require.Equal(t, 1, m.LeftOut)
	}
	f("packets", func(m *conference.Stats) { m.Packets = -1 })
	f("packets", func(m *conference.Stats) { m.Packets = 1 << 40 })
	f("bytes", func(m *conference.Stats) { m.Bytes = math.Inf(1) })
	f("bytes", func(m *conference.Stats) { m.Bytes = math.NaN() })
	f("packetsLost", func(m *conference.Stats) { m.PacketsLost = -1e9 })
	f("jitterMs", func(m *conference.Stats) { m.JitterMs = conference.Known(-4) })
	f("remoteLossFraction", func(m *conference.Stats) { m.RemoteLossFraction = conference.Known(40) })
	f("framesDecoded", func(m *conference.Stats) { m.FramesDecoded = conference.Known(1e7) })
	f("intervalMs", func(m *conference.Stats) { m.IntervalMs = -5 })
	m := &conference.Stats{StatsType: "inbound-rtp", MediaType: "audio", IntervalMs: 2000, PacketsLost: -3}
	require.Empty(t, m.Unlikely(), "a loss may be taken back")
}

// statsOf is a measurement as a record of a session.
func statsOf(session string, seq uint64, m conference.Stats) conference.Event {
	m.Unlikely()
	return conference.Event{
		AppID: "app", ConferenceID: "c", Session: session, UserID: session, Seq: seq, Fabric: 1, RemoteUser: "other",
		AtMs: base + int64(seq)*2000, ConferenceAtMs: base, Kind: conference.KindStats, Stats: &m,
	}
}

// TestLossThatWasNotTold: a stream of which nobody counted the losses has no loss, which is not
// one of 0; one measurement that counted tells it.
//
// spec: CONF-03
func TestLossThatWasNotTold(t *testing.T) {
	f := func(want any, untold ...bool) {
		t.Helper()
		var events []conference.Event
		for i, is := range untold {
			events = append(events, statsOf("a", uint64(i+1), conference.Stats{
				StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000, Packets: 100, Bytes: 8000, LossUntold: is,
			}))
		}
		loss := conference.Fold(events, quality.DefaultBounds()).Participants[0].Fabrics[0].Streams[0].LossFraction
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

// TestNonsenseIsCounted: counters that jump and an SSRC that changes its kind end in a
// summary that says so, and is made of the rest.
func TestNonsenseIsCounted(t *testing.T) {
	well := conference.Stats{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000, Packets: 100, Bytes: 8000}
	mad, video := well, well
	mad.Packets, mad.RTTMs = 1e15, conference.Known(-1)
	video.MediaType = "video"
	s := conference.Fold([]conference.Event{statsOf("a", 1, well), statsOf("a", 2, mad), statsOf("a", 3, video)}, quality.DefaultBounds())
	require.Equal(t, 2, s.Unlikely)
	require.Equal(t, 1, s.TwoKinds)
	streams := s.Participants[0].Fabrics[0].Streams
	require.Len(t, streams, 2)
	require.EqualValues(t, 100, streams[0].Packets)
}

// TestTenThousandParticipants: beyond the limit they are counted, and the summary is made.
func TestTenThousandParticipants(t *testing.T) {
	const participants, limit = 10_000, 5000
	c := conference.New("app", "c")
	for i := range participants {
		e := statsOf(fmt.Sprint("session-", i), 1, conference.Stats{StatsType: "inbound-rtp", MediaType: "audio", SSRC: int64(i), IntervalMs: 2000, Packets: 100, PacketsLost: 30})
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
	before := heap()
	c := conference.New("app", "c")
	for seq := range uint64(month) {
		v := float64(seq * 2654435761 % 1000)
		e := statsOf("a", seq+1, conference.Stats{
			StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 10_000, Packets: v, PacketsLost: v / 5, Bytes: 90 * v,
			JitterMs: conference.Known(v / 9), RTTMs: conference.Known(v), MOS: conference.Known(1 + v/300), PacketsSeen: conference.Known(v),
		})
		e.AtMs = base + int64(seq)*10_000
		c.Apply(&e)
	}
	size := int64(heap()) - int64(before)
	t.Logf("%d bytes", size)
	require.Less(t, size, int64(budget))
	require.Equal(t, month, c.Summary(quality.DefaultBounds()).Participants[0].Fabrics[0].Streams[0].Intervals)
}
