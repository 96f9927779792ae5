package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestTrackThatHadEnded: the track of a stream had ended when it was added, and no packet was sent.
//
// spec: CONF-03
func TestTrackThatHadEnded(t *testing.T) {
	const ended = `{"ssrc":7,"statsType":"outbound-rtp","mediaType":"video","trackState":"ended"}`
	f := func(want cause.Cause, change func(c *conferencetest.Call)) {
		t.Helper()
		c := conferencetest.NewCall()
		c.Sound("a", 0, 40, 100, 0)
		c.Sound("b", 0, 40, 100, 0)
		change(c)
		found := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, found.Cause, "%+v", found)
		if want != cause.None {
			require.Equal(t, []string{"a", "video"}, []string{found.Session, found.MediaType})
		}
	}
	f(cause.None, func(*conferencetest.Call) {})
	f(cause.SendingCapture, func(c *conferencetest.Call) { c.Event("a", 0, "streamAdded", ended) })
	f(cause.None, func(c *conferencetest.Call) {
		c.Event("a", 0, "streamAdded", `{"ssrc":7,"statsType":"outbound-rtp","mediaType":"video","trackState":"live"}`)
	})
	f(cause.None, func(c *conferencetest.Call) {
		c.Event("a", 0, "streamAdded", `{"ssrc":7,"statsType":"inbound-rtp","mediaType":"video","trackState":"ended"}`)
	})
	f(cause.None, func(c *conferencetest.Call) { // the camera is off, and said so
		c.Event("a", 0, "videoPause", `{}`)
		c.Event("a", 0, "streamAdded", ended)
	})
	f(cause.SendingCapture, func(c *conferencetest.Call) {
		c.Event("a", 0, "streamAdded", ended)
		c.Event("a", 20, "videoPause", `{}`)
	})
	f(cause.None, func(c *conferencetest.Call) { // another track took its place
		c.Event("a", 0, "streamAdded", ended)
		m := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Video, SSRC: 7, IntervalMs: 10_000}, eventtest.Values{
			protocol.Packets: 600, protocol.Bytes: 600_000, protocol.Frames: 300, protocol.FPS: 30,
		})
		c.Add("a", 40, event.Event{Kind: event.KindStats, Measured: &m})
	})
}

// TestWhoGatheredNoCandidate: the number of local candidates decides who is at fault.
//
// spec: CONF-03
func TestWhoGatheredNoCandidate(t *testing.T) {
	c := &conferencetest.Call{}
	for session, candidates := range map[string]string{"a": "4", "b": "0"} {
		c.Event(session, 0, "fabricAdded", `{}`)
		c.Event(session, 1, "remoteDescriptionSet", `{}`)
		c.Event(session, 20, "fabricSetupFailed", `{"stage":"gathering","failureMs":20000,"reason":"terminated","localCandidates":`+candidates+`}`)
	}
	found := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
	require.Equal(t, []any{cause.ICEConnectivity, "b", ""}, []any{found.Cause, found.Session, found.Peer}, "%+v", found)
}
