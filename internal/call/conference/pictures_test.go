package conference_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestPicturesByTheirSender: received video without a quantiser has that of its sender, if the sender's records are there. Slides,
// of few frames, too.
//
// spec: QUAL-01
func TestPicturesByTheirSender(t *testing.T) {
	f := func(ssrcOfSender int64, qp, fps float64) *float64 {
		c := conferencetest.NewCall()
		for at := 10.0; at <= 40; at += 10 {
			sent := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Video, SSRC: ssrcOfSender, Codec: "VP8", IntervalMs: 10_000}, eventtest.Values{
				protocol.Packets: 300, protocol.Bytes: 125_000, protocol.Frames: 10 * fps, protocol.Width: 640, protocol.Height: 480, protocol.QP: qp,
			})
			received := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 7, Codec: "VP8", IntervalMs: 10_000}, eventtest.Values{
				protocol.Packets: 300, protocol.Bytes: 125_000, protocol.FramesDecoded: 10 * fps, protocol.Width: 640, protocol.Height: 480,
			})
			res := quality.ScoreVideo(&received, quality.DefaultVideoParams())
			received.Score = event.Score{MOS: event.Known(res.MOS), Label: quality.Label(res.MOS, quality.DefaultBounds())}
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &sent})
			c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &received})
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		stream := s.Participants[1].Fabrics[0].Streams[0]
		require.InDelta(t, *s.Participants[1].VideoMOSIn, stream.MOS.Mean, 1e-9)
		return s.Participants[1].VideoMOSIn
	}
	require.InDelta(t, 4.63, *f(7, 2, 30), 0.02)
	require.InDelta(t, 3.345, *f(7, 95, 30), 0.02)
	require.InDelta(t, 1+3.633*0.8590, *f(7, 2, 15), 0.03)
	require.InDelta(t, 1+3.633*(1-0.3*math.Log(24/5.0)), *f(7, 2, 5), 0.03)
	require.InDelta(t, 4.19, *f(8, 2, 30), 0.02, "another stream")
}

// TestPicturesThroughAServer: a media server forwards a video under another SSRC, so the sender is known by name, and which of its
// videos it is by the size.
//
// spec: QUAL-01
func TestPicturesThroughAServer(t *testing.T) {
	f := func(owner string, widths ...float64) float64 {
		c := conferencetest.NewCall()
		c.Event("b", 1, "associateMstWithUserID", `{"ssrc":7,"userID":"`+owner+`"}`)
		for at := 10.0; at <= 40; at += 10 {
			values := eventtest.Values{protocol.Packets: 300, protocol.Bytes: 125_000, protocol.Frames: 300, protocol.FramesDecoded: 300, protocol.Width: 640, protocol.Height: 480}
			received := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 7, Codec: "VP8", IntervalMs: 10_000}, values)
			res := quality.ScoreVideo(&received, quality.DefaultVideoParams())
			received.Score = event.Score{MOS: event.Known(res.MOS), Label: quality.Label(res.MOS, quality.DefaultBounds())}
			c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &received})
			for i, width := range widths {
				values[protocol.Width], values[protocol.QP] = width, 2+93*math.Abs(math.Log(width/640))/math.Log(2)
				sent := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Video, SSRC: 100 + int64(i), Codec: "VP8", IntervalMs: 10_000}, values)
				c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &sent})
			}
		}
		for i := range c.Events {
			c.Events[i].RemoteType = "server"
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		return *s.Participants[1].VideoMOSIn
	}
	require.InDelta(t, 4.63, f("a", 640), 0.02)
	require.InDelta(t, 3.345, f("a", 320), 0.02, "the only one")
	require.InDelta(t, 4.63, f("a", 160, 320, 640), 0.02, "layers")
	require.InDelta(t, 4.63, f("a", 1280, 642), 0.02, "a screen, and a camera that was larger in the end")
	require.InDelta(t, 4.19, f("a", 640, 640), 0.02, "two cameras")
	require.InDelta(t, 4.19, f("else", 640), 0.02)
}
