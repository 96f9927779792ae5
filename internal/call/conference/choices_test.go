package conference_test

import (
	"fmt"
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

// choice is a call of 80 s in which a's page chooses from second 20 to 60 what a sends in one of its streams.
type choice struct {
	*conferencetest.Call
	videos int // streams of video that a sends
	server bool
}

// The SSRCs of a; b's are higher by 100, and a server's by 1000.
const voice, picture = 1, 2

// send adds the measurements; chosen changes those of the chosen stream, at both ends.
func (c *choice) send(ssrc int64, chosen func(*event.Measurement)) {
	for at := 2.0; at <= 80; at += 2 {
		for i, session := range []string{"a", "b"} {
			for n := range int64(1 + c.videos) {
				for _, statsType := range []string{protocol.OutboundRTP, protocol.InboundRTP} {
					sender := int64(i) // of a or b
					if statsType == protocol.InboundRTP {
						sender = 1 - sender
					}
					about := event.Measurement{StatsType: statsType, MediaType: protocol.Audio, SSRC: voice + n + 100*sender, IntervalMs: 2000}
					if n > 0 {
						about.MediaType = protocol.Video
					}
					m := eventtest.With(about, flowing(&about))
					if about.SSRC == ssrc && at > 20 && at <= 60 {
						chosen(&m)
					}
					if c.server && statsType == protocol.InboundRTP {
						m.SSRC += 1000
					}
					c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m, RemoteType: map[bool]string{true: "server"}[c.server]})
				}
			}
		}
	}
}

// flowing is a healthy interval of 2 s.
func flowing(m *event.Measurement) eventtest.Values {
	values := eventtest.Values{protocol.Packets: 100, protocol.Bytes: 8000, protocol.RTTMs: 20, protocol.AudioLevel: 0.1}
	if m.MediaType == protocol.Video {
		values = eventtest.Values{
			protocol.Packets: 120, protocol.Bytes: 100_000, protocol.RTTMs: 20, protocol.Frames: 50, protocol.FramesDecoded: 50, protocol.FPS: 25,
			protocol.Width: 640, protocol.Height: 480, protocol.QP: 30,
		}
	}
	if m.StatsType == protocol.InboundRTP {
		values[protocol.PacketsLost], values[protocol.JitterMs] = 0, 2
	}
	return values
}

// gone is a stream without a packet.
func gone(m *event.Measurement) {
	for _, measure := range []protocol.Measure{protocol.Packets, protocol.Bytes, protocol.Frames, protocol.FramesDecoded, protocol.FPS, protocol.AudioLevel} {
		m.Set(measure, 0)
	}
}

// quietly is sound of which nothing is heard.
func quietly(m *event.Measurement) { m.Set(protocol.AudioLevel, 0) }

// black is video of one small picture a second.
func black(m *event.Measurement) {
	*m = eventtest.With(*m, eventtest.Values{protocol.Packets: 2, protocol.Bytes: 300, protocol.Frames: 2, protocol.FramesDecoded: 2, protocol.FPS: 1})
	if m.StatsType == protocol.InboundRTP {
		m.Set(protocol.FreezeMs, 1500)
		m.Set(protocol.Freezes, 1)
	}
}

// TestWhatThePageChose: what a page's own objects show is a choice, at both ends: no issue and no cause follows from its effects.
//
// spec: CONF-03
func TestWhatThePageChose(t *testing.T) {
	f := func(name string, ssrc int64, videos int, server bool, effect func(*event.Measurement)) {
		t.Helper()
		fold := func(said int64) conference.Summary {
			c := choice{conferencetest.NewCall(), videos, server}
			begins, ends := "videoPause", "videoResume"
			if ssrc == voice {
				begins, ends = "audioMute", "audioUnmute"
			}
			data := fmt.Sprintf(`{"ssrc":%d,"reason":"disabled"}`, said)
			c.Event("a", 21, begins, data)
			c.send(ssrc, effect)
			c.Event("a", 60, ends, data)
			return conferencetest.Fold(c.Events, quality.DefaultBounds())
		}
		silent := fold(ssrc)
		require.Empty(t, silent.Issues, name)
		require.Equal(t, cause.None, silent.LikelyCause.Cause, "%s: %v", name, silent.LikelyCause)
		unsaid := fold(99) // of no stream
		require.False(t, len(unsaid.Issues) == 0 && unsaid.LikelyCause.Cause == cause.None, "%s has no effect", name)
	}
	for _, server := range []bool{false, true} {
		name := map[bool]string{true: ", through a server"}[server]
		f("sound is disabled"+name, voice, 1, server, quietly)
		f("a microphone is taken away"+name, voice, 1, server, gone)
		f("a camera is disabled"+name, picture, 1, server, black)
		f("a camera is taken away"+name, picture, 1, server, gone)
	}
	f("one of two videos is disabled", picture, 2, false, black)
	f("one of two videos is taken away", picture+1, 2, false, gone)
}

// few is video of four pictures a second, as the application wants it.
func few(m *event.Measurement) {
	*m = eventtest.With(*m, eventtest.Values{protocol.Packets: 20, protocol.Bytes: 16_000, protocol.Frames: 8, protocol.FramesDecoded: 8, protocol.FPS: 4})
	if m.StatsType == protocol.InboundRTP {
		m.Set(protocol.FreezeMs, 200)
		m.Set(protocol.Freezes, 1)
	}
}

// TestFewPictures: few pictures are no fault if the application limits them to few, at both ends; a limit that is higher is no excuse.
//
// spec: CONF-03
func TestFewPictures(t *testing.T) {
	f := func(right bool, change string) {
		t.Helper()
		c := choice{conferencetest.NewCall(), 1, false}
		c.Event("a", 20, "limitsChange", change)
		c.send(picture, few)
		c.Event("a", 61, "limitsChange", `{"ssrc":2}`)
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, right, len(s.Issues) == 0 && s.LikelyCause.Cause == cause.None, "%s: %v %v", change, s.Issues, s.LikelyCause)
	}
	f(true, `{"ssrc":2,"maxFramerate":4}`)
	f(true, `{"ssrc":2,"maxFramerate":12,"maxBitrate":100000}`)
	f(false, `{"ssrc":2,"maxFramerate":15}`)
	f(false, `{"ssrc":2,"maxFramerate":30}`)
	f(false, `{"ssrc":2,"maxBitrate":100000}`)
	f(false, `{"ssrc":9,"maxFramerate":4}`)
}

// TestEncoderWithoutAReason: an encoder that reports no reason of a limitation, as Firefox's, is limited if its target is low for its picture and the
// application did not limit it.
//
// spec: CONF-03
func TestEncoderWithoutAReason(t *testing.T) {
	f := func(limited bool, targetBps, width float64, change string) {
		t.Helper()
		c := choice{conferencetest.NewCall(), 1, false}
		c.Event("a", 20, "limitsChange", change)
		c.send(picture, func(m *event.Measurement) {
			m.Set(protocol.Bytes, 30_000)
			if m.Outbound() {
				*m = eventtest.With(*m, eventtest.Values{protocol.TargetBitrateBps: targetBps, protocol.Width: width, protocol.Height: width * 3 / 4})
			}
		})
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		want := cause.None
		if limited {
			want = cause.PathOrTURN
		}
		require.Equal(t, want, s.LikelyCause.Cause, "%v", s.Issues)
		require.Equal(t, limited, has(&s, detect.BandwidthLimited), "%v", s.Issues)
	}
	f(true, 120e3, 320, `{"ssrc":2}`)
	f(true, 299e3, 640, `{"ssrc":2,"maxBitrate":2500000}`)
	f(true, 120e3, 640, `{"ssrc":9,"maxBitrate":120000}`)
	f(false, 301e3, 640, `{"ssrc":2}`)
	f(false, 120e3, 640, `{"ssrc":2,"maxBitrate":120000}`)
	f(false, 120e3, 160, `{"ssrc":2}`) // the most of so small a picture is 250 kbit/s
}
