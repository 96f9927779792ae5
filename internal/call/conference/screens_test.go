package conference_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// slides is a call in which a sends well coded video of few frames to b, with the SSRC 7.
type slides struct {
	*conferencetest.Call
	fps      float64
	ssrc     int64 // of the received video: a media server rewrites it
	reported bool  // a's client reports a screen
	bytes    float64
	lost     float64 // of 60 received packets
	freezeMs float64 // of each 10 s
}

func newSlides() *slides {
	return &slides{Call: conferencetest.NewCall(), fps: 2, ssrc: 7, bytes: 100_000}
}

// send adds the measurements of 10 s each until the given second.
func (s *slides) send(from, to float64) {
	for at := from + 10; at <= to; at += 10 {
		for i, about := range []event.Measurement{
			{StatsType: protocol.OutboundRTP, SSRC: 7, Screen: s.reported, Limitation: "none"}, {StatsType: protocol.InboundRTP, SSRC: s.ssrc},
		} {
			about.MediaType, about.Codec, about.IntervalMs = protocol.Video, "VP8", 10_000
			m := eventtest.With(about, eventtest.Values{
				protocol.Packets: 60, protocol.PacketsLost: s.lost, protocol.Bytes: s.bytes, protocol.Frames: 10 * s.fps, protocol.FramesDecoded: 10 * s.fps,
				protocol.FPS: s.fps, protocol.Width: 1280, protocol.Height: 720, protocol.QP: 10,
			})
			if about.Outbound() {
				m.Clear(protocol.FramesDecoded)
			} else if s.freezeMs > 0 {
				m.Set(protocol.FreezeMs, s.freezeMs)
				m.Set(protocol.Freezes, 1)
			}
			res := quality.ScoreVideo(&m, quality.DefaultVideoParams())
			m.Score = event.Score{MOS: event.Known(res.MOS), Label: quality.Label(res.MOS, quality.DefaultBounds())}
			s.Add([]string{"a", "b"}[i], at, event.Event{Kind: event.KindStats, Measured: &m})
		}
	}
}

// scores returns the scores of the video that a sent and b received.
func (s *slides) scores() (sent, received float64, found cause.Finding) {
	summary := conferencetest.Fold(s.Events, quality.DefaultBounds())
	one := func(i int) float64 {
		streams := summary.Participants[i].Fabrics[0].Streams
		return streams[slices.IndexFunc(streams, func(s conference.Stream) bool { return s.MediaType == protocol.Video })].MOS.Mean
	}
	return one(0), one(1), summary.LikelyCause
}

// TestScreens: few frames are no fault of a screen: neither in the scores of both ends, nor as a cause.
//
// spec: QUAL-01, CONF-03
func TestScreens(t *testing.T) {
	screen := quality.VideoMOS(1-0.13*10/29, 1)
	camera := 1 + (screen-1)*(1-0.30*math.Log(24/2))
	f := func(sent, received float64, prepare func(s *slides)) {
		t.Helper()
		s := newSlides()
		prepare(s)
		s.send(0, 60)
		haveSent, haveReceived, _ := s.scores()
		require.InDelta(t, sent, haveSent, 0.05, "sent")
		require.InDelta(t, received, haveReceived, 0.05, "received")
	}
	share := func(session string, second float64) func(*slides) {
		return func(s *slides) {
			s.Event(session, second, "screenShareStart", `{}`)
			s.Event(session, 60, "customEvent", `{}`)
		}
	}
	f(camera, camera, func(*slides) {})
	f(screen, screen, func(s *slides) { s.reported = true })
	f(screen, screen, share("a", 0))
	f(screen, screen, func(s *slides) { s.ssrc, s.reported = 9, true }) // a server between them
	f(screen, screen, func(s *slides) { s.ssrc = 9; share("a", 0)(s) })
	f(camera, camera, share("b", 0))                                    // the other one's screen
	f(camera, screen, func(s *slides) { s.ssrc = 9; share("c", 0)(s) }) // somebody's screen, through a server
	f(camera+(screen-camera)/2, camera+(screen-camera)/2, share("a", 30))
	f(camera+(screen-camera)/2, camera+(screen-camera)/2, func(s *slides) {
		share("a", 0)(s)
		s.Event("a", 30, "screenShareStop", `{}`)
	})
	f(screen, screen, func(s *slides) { s.fps = 30 })
}

// TestScreenIsNoBadCapture: a sender of few frames is at fault, unless they are of a screen.
//
// spec: CONF-03
func TestScreenIsNoBadCapture(t *testing.T) {
	f := func(want cause.Cause, prepare func(s *slides)) {
		t.Helper()
		s := newSlides()
		prepare(s)
		s.send(0, 60)
		s.Sound("a", 0, 60, 100, 0)
		s.Sound("b", 0, 60, 100, 0)
		_, _, found := s.scores()
		require.Equal(t, want, found.Cause)
	}
	f(cause.SendingCapture, func(*slides) {})
	f(cause.None, func(s *slides) { s.reported = true })
	f(cause.None, func(s *slides) { s.Event("a", 0, "screenShareStart", `{}`) })
	f(cause.SendingCapture, func(s *slides) { s.Event("b", 0, "screenShareStart", `{}`) })
}

// TestSlidesDoNotFreeze: a picture of a screen that changes now and then is neither an issue nor a cause. A camera that
// freezes is both, and so is a screen that loses packets.
//
// spec: CONF-02, CONF-03
func TestSlidesDoNotFreeze(t *testing.T) {
	f := func(want bool, prepare func(s *slides)) {
		t.Helper()
		s := newSlides()
		s.freezeMs, s.ssrc = 3000, 9 // a server between them
		s.Sound("a", 0, 60, 100, 0)
		s.Sound("b", 0, 60, 100, 0)
		prepare(s)
		s.send(0, 60)
		summary := conferencetest.Fold(s.Events, quality.DefaultBounds())
		kinds := map[string]bool{}
		for _, issue := range summary.Issues {
			kinds[issue.Kind] = true
		}
		require.Equal(t, want, kinds[conference.IssueFrozenVideo], "%v", kinds)
		require.Equal(t, want, summary.LikelyCause.Cause != cause.None, "%+v", summary.LikelyCause)
		require.Equal(t, want && s.lost == 0, kinds["lowFrameRate"])
	}
	f(false, func(s *slides) { s.reported = true })
	f(false, func(s *slides) { s.Event("a", 0, "screenShareStart", `{}`); s.Event("a", 60, "customEvent", `{}`) })
	f(true, func(*slides) {})
	f(true, func(s *slides) { s.reported, s.lost = true, 10 })
}
