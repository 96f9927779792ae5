package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestPausedStreamsAreNotMissing: a connection to a media server receives two streams, which end in second 10. No media are missing
// if both were paused, as when their sender left.
//
// spec: CONF-03
func TestPausedStreamsAreNotMissing(t *testing.T) {
	f := func(want []string, paused map[string]string) {
		t.Helper()
		c := &conferencetest.Call{}
		c.Event("a", 0, "fabricAdded", `{}`)
		c.Event("a", 1, "fabricSetup", `{"setupMs":1000}`)
		for name, data := range paused {
			c.Event("a", 10, name, data)
		}
		for at := 4.0; at <= 40; at += 2 {
			for media, ssrc := range map[string]int64{protocol.Audio: 1, protocol.Video: 2} {
				packets := 100.0
				if at > 10 {
					packets = 0
				}
				m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: media, SSRC: ssrc, IntervalMs: 2000},
					eventtest.Values{protocol.Packets: packets, protocol.Bytes: 80 * packets})
				c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
			}
		}
		for i := range c.Events {
			c.Events[i].RemoteType = "server"
		}
		var got []string
		for _, issue := range conferencetest.Fold(c.Events, quality.DefaultBounds()).Issues {
			got = append(got, issue.Kind)
		}
		require.Equal(t, want, got)
	}
	missing := []string{string(detect.NoMedia)}
	f(missing, nil)
	f(nil, map[string]string{"audioMute": `{"ssrc":1,"reason":"ended"}`, "videoPause": `{"ssrc":2,"reason":"ended"}`})
	f(missing, map[string]string{"videoPause": `{"ssrc":2,"reason":"ended"}`})
	f(missing, map[string]string{"audioMute": `{"ssrc":7,"reason":"ended"}`, "videoPause": `{"ssrc":2,"reason":"ended"}`})
}
