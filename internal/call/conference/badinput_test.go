package conference_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// Input that no correct client sends, one kind in each test: it is counted, bounded and reported.

var sane = eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000, Score: event.Score{MOS: event.Known(4.3), Label: "excellent"}}, eventtest.Values{
	protocol.Packets: 100, protocol.Bytes: 8000, protocol.Samples: 96_000, protocol.JitterMs: 3, protocol.RTTMs: 40, protocol.PacketsLost: 0,
})

// TestImpossibleCounters: a counter that decreases, jumps, is negative or huge is named in its
// record and counted in the summary, which leaves it out and uses the rest of the measurement.
//
// spec: CONF-03, QUAL-01
func TestImpossibleCounters(t *testing.T) {
	f := func(what string, spoil func(*event.Measurement), named ...string) {
		t.Helper()
		events := []event.Event{conferencetest.Stats("a", 1, sane), conferencetest.Stats("a", 3, sane)}
		mad := sane
		spoil(&mad)
		checked := mad
		checked.DropOutOfRange()
		require.Equal(t, named, checked.OutOfRange.Names(), what)
		s := conferencetest.Fold(append(events, conferencetest.Stats("a", 2, mad)), quality.DefaultBounds())
		require.Equal(t, len(named), s.OutOfRange, what)
		conferencetest.JSON(t, s)
		stream := s.Participants[0].Fabrics[0].Streams[0]
		require.Equal(t, 3, stream.Intervals, what)
		require.LessOrEqual(t, stream.Packets, int64(300), what)
		require.GreaterOrEqual(t, stream.Packets, int64(200), what)
		require.LessOrEqual(t, stream.RTTMs.Max, 40.0, what)
		require.InDelta(t, 4.3, *s.MOS, 0.01, what)
	}
	f("goes back", func(m *event.Measurement) {
		m.Set(protocol.Packets, -70)
		m.Set(protocol.Bytes, -5000)
	}, "bytes", "packets")
	f("jumps", func(m *event.Measurement) {
		m.Set(protocol.Packets, 1<<32)
		m.Set(protocol.Samples, 1<<40)
	}, "packets", "samples")
	f("is negative", func(m *event.Measurement) {
		m.Set(protocol.JitterMs, -1)
		m.Set(protocol.FreezeMs, -1)
	}, "freezeMs", "jitterMs")
	f("is huge", func(m *event.Measurement) {
		m.Set(protocol.Packets, math.MaxFloat64)
		m.Set(protocol.RTTMs, 1e300)
	}, "packets", "rttMs")
	f("takes back more than was ever lost", func(m *event.Measurement) { m.Set(protocol.PacketsLost, -1e12) }, "packetsLost")
	f("took less than no time", func(m *event.Measurement) { m.IntervalMs = -2000 }, "intervalMs")
}

// TestLossThatIsTakenBack: late packets may make a loss negative; no fraction and no score
// follows from that.
//
// spec: CONF-03
func TestLossThatIsTakenBack(t *testing.T) {
	back := sane
	back.Set(protocol.PacketsLost, -30)
	s := conferencetest.Fold([]event.Event{conferencetest.Stats("a", 1, back), conferencetest.Stats("a", 2, sane)}, quality.DefaultBounds())
	stream := s.Participants[0].Fabrics[0].Streams[0]
	require.Zero(t, s.OutOfRange)
	require.EqualValues(t, -30, stream.PacketsLost)
	require.Zero(t, *stream.LossFraction)
}

// TestMissingEnds: an interval without an end ends with its fabric, and one without a beginning
// is left out; unknown durations are 0.
//
// spec: CONF-02, CONF-03
func TestMissingEnds(t *testing.T) {
	happened := func(seq uint64, atMs int64, name string) event.Event {
		e := conferencetest.Event("c", seq, atMs, name)
		e.Data = event.ParseData(name, []byte(`{"durationMs":4000}`))
		return e
	}
	s := conferencetest.Fold([]event.Event{
		happened(1, 0, "fabricSetup"), happened(2, 1000, "audioMute"), happened(3, 2000, "fabricHold"), happened(4, 3000, "screenShareStart"),
		happened(5, 4000, "iceDisruptionStart"), happened(6, 20_000, "customEvent"),
	}, quality.DefaultBounds())
	p := s.Participants[0]
	require.Equal(t, conference.EndSilence, p.EndReason)
	for _, spans := range [][]conference.Interval{p.Mutes, p.Holds, p.Screen} {
		require.Len(t, spans, 1)
		require.Equal(t, conferencetest.Base+20_000, spans[0].EndMs)
	}
	require.Zero(t, p.Fabrics[0].ICEDisruptionMs, "how long it was is not known")
	i := slices.IndexFunc(s.Issues, func(i conference.Issue) bool { return i.Kind == string(detect.ICEDisruption) })
	require.True(t, s.Issues[i].Open)
	require.EqualValues(t, 16_000, s.Issues[i].TotalMs)

	s = conferencetest.Fold([]event.Event{
		happened(1, 10_000, "audioUnmute"), happened(2, 11_000, "fabricResume"), happened(3, 12_000, "iceDisruptionEnd"), happened(4, 13_000, "fabricTerminated"),
	}, quality.DefaultBounds())
	p = s.Participants[0]
	require.Empty(t, p.Mutes)
	require.Empty(t, p.Holds)
	require.InDelta(t, 4000, p.Fabrics[0].ICEDisruptionMs, 0)
	require.Zero(t, p.Fabrics[0].ICEDisruptions)
	require.Equal(t, "application", p.EndReason)
}

// TestTerminatedTwice: the first end is the end; a measurement after it counts, and does not
// move it.
//
// spec: CONF-02
func TestTerminatedTwice(t *testing.T) {
	last := conferencetest.Stats("s of c", 9, sane)
	last.ConferenceAtMs = conferencetest.Base
	s := conferencetest.Fold([]event.Event{conferencetest.Event("c", 1, 0, "fabricAdded"), conferencetest.Event("c", 2, 1000, "fabricTerminated"), conferencetest.Event("c", 3, 7000, "fabricTerminated"), last}, quality.DefaultBounds())
	require.Equal(t, conferencetest.Base+1000, s.Participants[0].EndMs)
	require.Equal(t, 1, s.Participants[0].Fabrics[0].Streams[0].Intervals)
}

// TestPartsAreBounded: fabrics and streams are bounded together, however many participants
// they are divided among.
//
// spec: CONF-03
func TestPartsAreBounded(t *testing.T) {
	const sessions, streams, room = 300, 250, 50_000
	c := conference.New("app", "c", nil, quality.DefaultBounds())
	for i := range sessions {
		m := sane
		for ssrc := range int64(streams) {
			m.SSRC = ssrc
			e := conferencetest.Stats(fmt.Sprint("s", i), uint64(ssrc)+1, m)
			c.Apply(&e)
		}
	}
	s := c.Summary(quality.DefaultBounds())
	fabrics, held := 0, 0
	for _, p := range s.Participants {
		for _, f := range p.Fabrics {
			fabrics, held = fabrics+1, held+len(f.Streams)
		}
	}
	require.Equal(t, room, fabrics+held)
	require.Equal(t, sessions*streams-held, s.Truncated, "all are counted, here or there")
}

// TestSSRCThatChangesItsKind: each kind is a stream of its own, in each direction, and the
// summary counts such SSRCs.
//
// spec: CONF-03
func TestSSRCThatChangesItsKind(t *testing.T) {
	of := func(seq uint64, statsType, media, codec string) event.Event {
		m := sane
		m.StatsType, m.MediaType, m.Codec = statsType, media, codec
		return conferencetest.Stats("a", seq, m)
	}
	s := conferencetest.Fold([]event.Event{
		of(1, "inbound-rtp", "audio", "opus"), of(2, "inbound-rtp", "video", "VP8"), of(3, "inbound-rtp", "audio", "opus"),
		of(4, "outbound-rtp", "audio", "opus"), of(5, "outbound-rtp", "text", ""), of(6, "new-type", "audio", ""),
	}, quality.DefaultBounds())
	streams := s.Participants[0].Fabrics[0].Streams
	require.Len(t, streams, 3, "kinds that are not known are none")
	require.Equal(t, 1, s.TwoKinds)
	require.Equal(t, []int{2, 1, 1}, []int{streams[0].Intervals, streams[1].Intervals, streams[2].Intervals})
	require.Equal(t, []string{"opus", "VP8", "opus"}, []string{streams[0].Codec, streams[1].Codec, streams[2].Codec})
}

// TestNamesAreCut: a name is cut to its limit, and never within a letter.
//
// spec: SRV-02
func TestNamesAreCut(t *testing.T) {
	long := strings.Repeat("ä", 400)
	e := conferencetest.Stats("a", 1, sane)
	e.UserID, e.Alias, e.RemoteUser, e.Usage, e.Measured.Codec = long, long, long, long, long
	s := conferencetest.Fold([]event.Event{e}, quality.DefaultBounds())
	p := s.Participants[0]
	require.Equal(t, strings.Repeat("ä", 256), p.UserID)
	require.Equal(t, strings.Repeat("ä", 256), p.Fabrics[0].RemoteUserID)
	require.Equal(t, strings.Repeat("ä", 32), p.Fabrics[0].Usage)
	require.Equal(t, strings.Repeat("ä", 32), p.Fabrics[0].Streams[0].Codec)
}

// TestSkewedClock: a wrong clock of one participant changes times alone, and neither
// participants nor measurements nor scores, but of media that are missing and of pictures at a
// low rate: only another's records show whether they were sent then, or were a screen.
//
// spec: CONF-02, CONF-03
func TestSkewedClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := conferencetest.Events(t, 25_000)
		for i := range events {
			if m := events[i].Measured; m != nil {
				m.Set(protocol.Packets, max(1, m.Get(protocol.Packets)))
				m.Clear(protocol.SilentConcealedSamples)
				m.Clear(protocol.FPS)
			}
		}
		skewed := slices.Clone(events)
		by := rapid.Int64Range(-20_000, 20_000).Draw(t, "skew")
		for i := range skewed {
			if e := &skewed[i]; e.Session == "s0" {
				e.AtMs += by
			}
		}
		require.Equal(t, measured(conferencetest.Fold(events, quality.DefaultBounds())), measured(conferencetest.Fold(skewed, quality.DefaultBounds())))
	})
}

// measured returns the values of a summary apart from times.
func measured(s conference.Summary) map[string]any {
	values := map[string]any{
		"errors": s.ErrorsByFunction, "logs": s.Logs, "feedback": s.Feedback, "outcome": s.Outcome, "lost": s.LostMeasurements,
		"truncated": s.Truncated, "out of range": s.OutOfRange, "two kinds": s.TwoKinds, "setup": s.SetupMs,
	}
	for _, p := range s.Participants {
		values[p.Session] = []any{p.Connected, p.Errors, len(p.Feedback), p.MOS, p.Label, p.UserID}
		for _, f := range p.Fabrics {
			values[fmt.Sprint(p.Session, f.Fabric)] = []any{f.State, f.SetupMs, f.ICEDisruptions, f.ICEDisruptionMs, f.ICERestarts, f.PairChanges, len(f.Streams)}
			for _, m := range f.Streams {
				m.Labels, m.LabelChanges = nil, 0
				values[fmt.Sprint(p.Session, f.Fabric, m.StatsType, m.MediaType, m.SSRC)] = m
			}
		}
	}
	return values
}
