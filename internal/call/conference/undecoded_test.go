package conference_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// watched is a call of 80 s of which b's sound and picture to a are as change says, and scored as the quality processor does.
func watched(c *conferencetest.Call, change func(at float64, m *event.Measurement)) conference.Summary {
	for at := 2.0; at <= 80; at += 2 {
		for _, media := range []string{protocol.Audio, protocol.Video} {
			about := event.Measurement{StatsType: protocol.InboundRTP, MediaType: media, SSRC: int64(len(media)), IntervalMs: 2000, Codec: map[string]string{protocol.Audio: "opus", protocol.Video: "VP8"}[media]}
			in := eventtest.With(about, flowing(&about))
			if media == protocol.Audio {
				in = eventtest.With(in, eventtest.Values{protocol.Samples: 96_000, protocol.ConcealedSamples: 0, protocol.SilentConcealedSamples: 0, protocol.ConcealmentEvents: 0})
				in.Clear(protocol.AudioLevel)
			}
			change(at, &in)
			score := quality.ScoreAudio(&in)
			if in.Video() {
				score = quality.ScoreVideo(&in, quality.DefaultVideoParams())
			}
			if score.OK() {
				in.Score = event.Score{MOS: event.Known(score.MOS), Label: quality.Label(score.MOS, quality.DefaultBounds())}
			}
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &in})
			about.StatsType = protocol.OutboundRTP
			out := eventtest.With(about, flowing(&about))
			c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &out})
		}
	}
	return conferencetest.Fold(c.Events, quality.DefaultBounds())
}

// requireGood requires a call of which nothing is said but scores.
func requireGood(t *testing.T, s *conference.Summary) {
	t.Helper()
	require.Empty(t, s.Issues)
	require.Equal(t, cause.None, s.LikelyCause.Cause, "%v", s.LikelyCause)
	require.Greater(t, *s.Participants[0].AudioMOSIn, 4.2)
	require.Greater(t, *s.Participants[0].VideoMOSIn, 3.9)
}

// locked is an interval of media for which the page has no key.
func locked(m *event.Measurement) {
	if m.Audio() {
		*m = eventtest.With(*m, eventtest.Values{protocol.ConcealedSamples: 96_000, protocol.SilentConcealedSamples: 96_000})
		return
	}
	*m = eventtest.With(*m, eventtest.Values{protocol.Frames: 0, protocol.FramesDecoded: 0, protocol.PLIs: 1})
	m.Clear(protocol.FPS)
	m.Clear(protocol.QP)
}

// TestWithoutAKey: media that arrive and cannot be decrypted have no score, and are no fault: nor are the interval in which they begin, nor
// the freeze that the browser counts when the key is there. The same after a loss is one.
//
// spec: CONF-03, QUAL-01
func TestWithoutAKey(t *testing.T) {
	f := func(until, lossFraction float64) conference.Summary {
		return watched(conferencetest.NewCall(), func(at float64, m *event.Measurement) {
			switch {
			case at == 20 && lossFraction > 0:
				m.Set(protocol.PacketsLost, lossFraction*m.Get(protocol.Packets))
			case at == 20 && m.Audio():
				*m = eventtest.With(*m, eventtest.Values{protocol.ConcealedSamples: 48_000, protocol.SilentConcealedSamples: 40_000, protocol.ConcealmentEvents: 1})
			case at == 20:
				*m = eventtest.With(*m, eventtest.Values{protocol.Frames: 20, protocol.FramesDecoded: 20, protocol.FPS: 10})
			case at > 20 && at <= until:
				locked(m)
			case at == until+2 && m.Video():
				*m = eventtest.With(*m, eventtest.Values{protocol.Freezes: 1, protocol.FreezeMs: 1000 * (until - 20)})
			}
		})
	}
	whole, part := f(80, 0), f(50, 0)
	requireGood(t, &whole)
	requireGood(t, &part)
	lossy := f(50, 0.2)
	require.True(t, has(&lossy, detect.FrozenVideo), "%v", lossy.Issues)
}

// TestProbingThatEnds: a server's probing, which has no payload, is not missing when it ends. A stream with payload is.
//
// spec: CONF-03, QUAL-01
func TestProbingThatEnds(t *testing.T) {
	f := func(bytes float64) *float64 {
		c := conferencetest.NewCall()
		for at := 2.0; at <= 80; at += 2 {
			values := eventtest.Values{protocol.Packets: 100, protocol.Bytes: bytes, protocol.Frames: 0}
			if at > 20 {
				values = eventtest.Values{protocol.Packets: 0, protocol.Bytes: 0, protocol.Frames: 0}
			}
			m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 77, IntervalMs: 2000}, values)
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
		}
		s := watched(c, func(float64, *event.Measurement) {})
		return s.Participants[0].VideoMOSIn
	}
	require.Greater(t, *f(0), *f(900)+0.5)
}

// TestOneKindWithoutReports: a remote end that reports on video and never on audio does not hear less of the audio. One that reports on
// nothing may.
//
// spec: CONF-03
func TestOneKindWithoutReports(t *testing.T) {
	f := func(silent ...string) bool {
		c := conferencetest.NewCall()
		for at := 2.0; at <= 80; at += 2 {
			for _, media := range []string{protocol.Audio, protocol.Video} {
				about := event.Measurement{StatsType: protocol.OutboundRTP, MediaType: media, SSRC: int64(len(media)), IntervalMs: 2000}
				m := eventtest.With(about, flowing(&about))
				c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &m})
				own := m
				if slices.Contains(silent, media) {
					own.Clear(protocol.RTTMs)
				}
				c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &own})
			}
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		return has(&s, detect.OneWayMedia)
	}
	require.False(t, f())
	require.False(t, f(protocol.Audio))
	require.True(t, f(protocol.Audio, protocol.Video))
}

// TestDelayThatThePageWants: a delay that the page wants is shown, and costs nothing; nor does the picture that stands
// still while the buffer grows, or the time in which it shrinks. One that comes of the network is an issue.
//
// spec: CONF-03, QUAL-01
func TestDelayThatThePageWants(t *testing.T) {
	f := func(wantedMs float64) conference.Summary {
		return watched(conferencetest.NewCall(), func(at float64, m *event.Measurement) {
			if at <= 20 {
				return
			}
			m.Set(protocol.JitterBufferDelayMs, min(1500, 150*(at-20)))
			m.Set(protocol.ExternalDelayMs, wantedMs)
			if at > 70 {
				m.Set(protocol.ExternalDelayMs, 0)
				m.Set(protocol.JitterBufferDelayMs, max(50, 1500-300*(at-70)))
			}
			if at == 22 && m.Video() {
				*m = eventtest.With(*m, eventtest.Values{protocol.Freezes: 1, protocol.FreezeMs: 1500})
			}
		})
	}
	wanted, unwanted := f(1480), f(0)
	requireGood(t, &wanted)
	require.True(t, has(&unwanted, detect.HighJitterBuffer), "%v", unwanted.Issues)
	require.Less(t, *unwanted.Participants[0].AudioMOSIn, *wanted.Participants[0].AudioMOSIn-0.5)
}

// TestEdgesOfAPause: the intervals in which a pause of a picture begins and ends have few frames, and no score.
//
// spec: CONF-03, QUAL-01
func TestEdgesOfAPause(t *testing.T) {
	f := func(ssrc string) float64 {
		c := conferencetest.NewCall()
		c.Event("b", 20.5, "videoPause", `{"ssrc":`+ssrc+`,"reason":"noTrack"}`)
		c.Event("b", 40.5, "videoResume", `{"ssrc":`+ssrc+`}`)
		s := watched(c, func(at float64, m *event.Measurement) {
			switch {
			case m.Audio():
			case at > 22 && at <= 40:
				*m = eventtest.With(*m, eventtest.Values{protocol.Packets: 0, protocol.Bytes: 0, protocol.Frames: 0, protocol.FramesDecoded: 0})
				m.Clear(protocol.FPS)
			case at == 22 || at == 42:
				*m = eventtest.With(*m, eventtest.Values{protocol.Packets: 30, protocol.Bytes: 10_000, protocol.Frames: 4, protocol.FramesDecoded: 4, protocol.FPS: 2})
			}
		})
		return *s.Participants[0].VideoMOSIn
	}
	calm := watched(conferencetest.NewCall(), func(float64, *event.Measurement) {})
	require.InDelta(t, *calm.Participants[0].VideoMOSIn, f("5"), 1e-9)
	require.Less(t, f("9"), *calm.Participants[0].VideoMOSIn-0.5)
}
