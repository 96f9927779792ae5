package conference_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

const (
	wellMOS = 4.3
	lostMOS = 1.1985 // of Opus at 32 kbit/s, by G.107.2, with every packet lost
)

// quiet makes the records of a call of 36 s in which b sends 100 packets in 2 s and a receives in the 14 s
// from second 12 on what change leaves of them; sent is what b sends in that time.
func quiet(sent float64, change func(*event.Measurement), events ...string) *conferencetest.Call {
	c := conferencetest.NewCall()
	for i, name := range events {
		c.Event("b", 12+14*float64(i), name, `{}`)
	}
	for at := 2.0; at <= 36; at += 2 {
		for _, session := range []string{"a", "b"} {
			in := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 1, Codec: "opus", IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.Bytes: 8000, protocol.PacketsLost: 0, protocol.Samples: 96_000, protocol.ConcealedSamples: 0, protocol.SilentConcealedSamples: 0,
			})
			out := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio, SSRC: 2, Codec: "opus", IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.RTTMs: 20,
			})
			in.Score = event.Score{MOS: event.Known(wellMOS), Label: quality.Excellent}
			if at > 12 && at <= 26 {
				if session == "a" {
					change(&in)
				} else {
					out.Set(protocol.Packets, sent)
				}
			}
			c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &in})
			c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &out})
		}
	}
	return c
}

// nothing is an interval without a packet: it has no score.
func nothing(m *event.Measurement) {
	m.Set(protocol.Packets, 0)
	m.Score = event.Score{Reason: quality.NoPackets.String()}
}

// silent is an interval that the browser concealed with silence: its score shows no fault.
func silent(m *event.Measurement) {
	m.Set(protocol.Packets, 49)
	m.Set(protocol.Bytes, 3920)
	m.Set(protocol.ConcealedSamples, 96_000)
	m.Set(protocol.SilentConcealedSamples, 96_000)
}

// TestSilenceCosts: 14 s of 36 in which nothing is heard cost what total loss costs, if the other end
// sent, and nothing if it did not.
//
// spec: QUAL-01, CONF-03
func TestSilenceCosts(t *testing.T) {
	f := func(name string, want float64, call *conferencetest.Call) {
		t.Helper()
		s := conferencetest.Fold(call.Events, quality.DefaultBounds())
		require.Equal(t, "a", s.Participants[0].Session)
		require.InDelta(t, want, *s.Participants[0].AudioMOSIn, 0.01, name) // the scores are rounded, and one has no delay
		require.InDelta(t, wellMOS, *s.Participants[1].AudioMOSIn, 1e-9, name)
		stream := s.Participants[0].Fabrics[0].Streams[0]
		require.InDelta(t, want, stream.MOS.Mean, 0.01, name)
		bad := (wellMOS - want) / (wellMOS - lostMOS)
		require.InDelta(t, bad, stream.QualityShare[quality.Bad], 1e-3, name)
		require.InDelta(t, bad/2, *s.ShareBad, 1e-3, name)
	}
	cost := (22*wellMOS + 14*lostMOS) / 36
	f("no packets", cost, quiet(100, nothing))
	f("silent concealment", cost, quiet(100, silent))
	f("packets of 60 ms", cost, quiet(34, nothing))
	for name, change := range map[string]func(*event.Measurement){"no packets": nothing, "silent concealment": silent} {
		f(name+", muted", wellMOS, quiet(100, change, "audioMute", "audioUnmute"))
		f(name+", on hold", wellMOS, quiet(100, change, "fabricHold", "fabricResume"))
		f(name+", paused here", wellMOS, paused(1, change))
		f(name+", another stream paused here", cost, paused(7, change))
		f(name+", comfort noise", wellMOS, quiet(5, change))
		f(name+", nothing sent", wellMOS, quiet(0, change))
	}
	f("discontinuous transmission", wellMOS, quiet(40, silent))
}

// paused is a quiet call in which a reports that one of its received streams is paused.
func paused(ssrc int, change func(*event.Measurement)) *conferencetest.Call {
	c := quiet(100, change)
	for i, name := range []string{"audioMute", "audioUnmute"} {
		c.Event("a", 12+14*float64(i), name, fmt.Sprintf(`{"ssrc":%d,"reason":"muted"}`, ssrc))
	}
	return c
}

// TestSilenceWithoutAWitness: who sent nothing that is known is not charged.
func TestSilenceWithoutAWitness(t *testing.T) {
	call := quiet(100, nothing)
	var alone []event.Event
	for _, e := range call.Events {
		if e.Session == "a" {
			alone = append(alone, e)
		}
	}
	require.InDelta(t, wellMOS, *conferencetest.Fold(alone, quality.DefaultBounds()).Participants[0].AudioMOSIn, 1e-9)
}

// TestManySilencesInAnyOrder: beyond the limit of 256 the latest count as measured, whatever the order of arrival.
func TestManySilencesInAnyOrder(t *testing.T) {
	var events []event.Event
	for seq := range uint64(306) {
		m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 1, Codec: "opus", IntervalMs: 2000}, eventtest.Values{
			protocol.Packets: 100, protocol.PacketsLost: 0, protocol.Samples: 96_000,
		})
		silent(&m)
		m.Score = event.Score{MOS: event.Known(4 + float64(seq%10)/100), Label: quality.Good}
		events = append(events, conferencetest.Stats("a", seq+1, m))
	}
	want := conferencetest.Fold(events, quality.DefaultBounds())
	require.InDelta(t, float64(2000*len(events)), float64(want.Participants[0].Fabrics[0].Streams[0].DurationMs), 0)
	for range 5 {
		rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		require.Equal(t, want, conferencetest.Fold(events, quality.DefaultBounds()))
	}
}
