package conference_test

import (
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

// pictures makes the records of a call in which a receives video for 40 s whose picture is frozen for
// frozenMs of the second interval of 10 s.
func pictures(frozenMs float64) conference.Summary {
	c := conferencetest.NewCall()
	for at := 10.0; at <= 40; at += 10 {
		for _, session := range []string{"a", "b"} {
			m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 1, Codec: "VP8", IntervalMs: 10_000}, eventtest.Values{
				protocol.Packets: 900, protocol.PacketsLost: 0, protocol.Frames: 300, protocol.FramesDecoded: 300, protocol.FreezeMs: 0, protocol.FPS: 30,
			})
			m.Score = event.Score{MOS: event.Known(4.5), Label: quality.Excellent}
			if session == "a" && at == 20 {
				m.Set(protocol.FreezeMs, frozenMs)
			}
			c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m})
		}
	}
	return conferencetest.Fold(c.Events, quality.DefaultBounds())
}

// TestOneStory: beside a certain issue of the media a conference has a cause or an unknown one, never none;
// a freeze at the beginning of a stream is no issue.
//
// spec: CONF-03
func TestOneStory(t *testing.T) {
	for frozenMs, want := range map[float64]struct {
		issues int
		cause  cause.Cause
	}{0: {0, cause.None}, 400: {0, cause.None}, 800: {1, cause.Unknown}} {
		s := pictures(frozenMs)
		require.Len(t, s.Issues, want.issues, "%g ms", frozenMs)
		require.Equal(t, want.cause, s.LikelyCause.Cause, "%g ms", frozenMs)
	}
}

// TestGoodCallsHaveNoCause: jitter that lowers no participant's score below good and is no issue is nobody's fault.
//
// spec: CONF-03
func TestGoodCallsHaveNoCause(t *testing.T) {
	f := func(mos float64, label string, also func(*conferencetest.Call)) cause.Cause {
		c := conferencetest.NewCall()
		if also != nil {
			also(c)
		}
		for at := 2.0; at <= 60; at += 2 {
			for _, session := range []string{"a", "b"} {
				for i, statsType := range []string{protocol.InboundRTP, protocol.OutboundRTP} {
					m := eventtest.With(event.Measurement{StatsType: statsType, MediaType: protocol.Audio, SSRC: int64(1 + i), Codec: "opus", IntervalMs: 2000}, eventtest.Values{
						protocol.Packets: 100, protocol.PacketsLost: 0, protocol.RemoteLossFraction: 0, protocol.RTTMs: 20, protocol.JitterMs: 4, protocol.RemoteJitterMs: 4,
					})
					if (session == "a") == (i == 0) { // what a receives
						m.Set(protocol.JitterMs, 29)
						m.Set(protocol.RemoteJitterMs, 29)
					}
					m.Score = event.Score{MOS: event.Known(mos), Label: label}
					c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m})
				}
			}
		}
		found := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
		if found.Cause == cause.None {
			require.Empty(t, found.Others)
		}
		return found.Cause
	}
	require.Equal(t, cause.None, f(4.3, quality.Excellent, nil))
	require.Equal(t, cause.None, f(3.8, quality.Good, nil))
	require.Equal(t, cause.None, f(4.0, quality.Good, func(c *conferencetest.Call) { c.Event("a", 9, "iceRestart", `{}`) }), "information is no fault")
	require.Equal(t, cause.PathOrTURN, f(3.79, quality.Fair, nil))
	require.Equal(t, cause.PathOrTURN, f(4.0, quality.Good, func(c *conferencetest.Call) { // an issue of one stream
		for at := 4.0; at <= 20; at += 2 {
			m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 8, IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.PacketsLost: 9,
			})
			c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &m})
		}
	}))
	require.NotEqual(t, cause.None, f(4.5, quality.Excellent, func(c *conferencetest.Call) { // one of three has a fair score
		m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 3, IntervalMs: 2000}, eventtest.Values{
			protocol.Packets: 100, protocol.PacketsLost: 0,
		})
		m.Score = event.Score{MOS: event.Known(3.3), Label: quality.Fair}
		c.Add("c", 40, event.Event{Kind: event.KindStats, Measured: &m})
	}))
}

// TestLongBuffersAreNoNone: any issue of the media of high confidence needs a cause, or an unknown one; here of a call of
// two in which no other path can be compared.
//
// spec: CONF-03
func TestLongBuffersAreNoNone(t *testing.T) {
	for bufferMs, want := range map[float64]cause.Cause{60: cause.None, 400: cause.Unknown} {
		c := conferencetest.NewCall()
		for at := 2.0; at <= 60; at += 2 {
			for _, session := range []string{"a", "b"} {
				m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 1, Codec: "opus", IntervalMs: 2000}, eventtest.Values{
					protocol.Packets: 100, protocol.PacketsLost: 0, protocol.JitterMs: 3, protocol.JitterBufferDelayMs: bufferMs,
				})
				m.Score = event.Score{MOS: event.Known(4), Label: quality.Good}
				c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m})
			}
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, want, s.LikelyCause.Cause, "%g ms: %+v", bufferMs, s.Issues)
	}
}

// TestAPauseIsNoFreeze: a browser counts the time of a hold when the next picture arrives.
//
// spec: CONF-02, CONF-03
func TestAPauseIsNoFreeze(t *testing.T) {
	f := func(want cause.Cause, wantIssue bool, held string) {
		t.Helper()
		c := conferencetest.NewCall()
		if held != "" {
			c.Event(held, 10.5, "fabricHold", `{}`)
			c.Event(held, 16.5, "fabricResume", `{}`)
		}
		for at := 2.0; at <= 40; at += 2 {
			values := eventtest.Values{
				protocol.Packets: 60, protocol.PacketsLost: 0, protocol.Frames: 30, protocol.FramesDecoded: 30, protocol.FreezeMs: 0, protocol.PauseMs: 0, protocol.FPS: 15,
			}
			switch {
			case at > 12 && at <= 16:
				values[protocol.Packets], values[protocol.Frames], values[protocol.FramesDecoded], values[protocol.FPS] = 0, 0, 0, 0
			case at == 18:
				values[protocol.PauseMs], values[protocol.FreezeMs] = 6100, 6100
			}
			m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 1, Codec: "VP8", IntervalMs: 2000}, values)
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
		}
		c.Sound("a", 0, 40, 100, 0)
		c.Sound("b", 0, 40, 100, 0)
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, wantIssue, has(&s, detect.FrozenVideo), held)
		require.Equal(t, want, s.LikelyCause.Cause, held)
	}
	f(cause.None, false, "b")
	f(cause.Unknown, true, "")
}
