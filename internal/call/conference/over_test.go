package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestEndsAreEnds: what a remaining participant measures in and after the interval in which the other one
// left is no fault, however long it stays. The same without a report of that end is one.
//
// spec: CONF-03
func TestEndsAreEnds(t *testing.T) {
	f := func(end string, want ...string) {
		t.Helper()
		c := conferencetest.NewCall()
		sound := func(session string, at, packets, lost, concealed float64) {
			m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 1, Codec: "opus", IntervalMs: 10_000}, eventtest.Values{
				protocol.Packets: packets, protocol.PacketsLost: lost, protocol.RTTMs: 20, protocol.Samples: 480_000,
				protocol.ConcealedSamples: concealed, protocol.SilentConcealedSamples: 0, protocol.ConcealmentEvents: 3,
			})
			c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m})
		}
		for at := 10.0; at <= 40; at += 10 {
			sound("a", at, 500, 0, 0)
			sound("b", at, 500, 0, 0)
		}
		if end == "" { // its last record
			c.Event("b", 46, "audioUnmute", `{}`)
		} else {
			c.Event("b", 46, "fabricTerminated", `{"reason":"`+end+`"}`)
		}
		sound("a", 50, 250, 90, 100_000) // the connection closes in this interval
		c.Event("a", 52, "iceDisruptionStart", `{"iceConnectionState":"disconnected"}`)
		sound("a", 60, 0, 0, 0)
		sound("a", 90, 0, 0, 0)
		c.Event("a", 95, "fabricTerminated", `{"reason":"application"}`)
		var kinds []string
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		for _, i := range s.Issues {
			require.Equal(t, "a", i.Session)
			kinds = append(kinds, i.Kind)
		}
		require.Equal(t, want, kinds, end)
	}
	f("application")
	f("pagehide")
	f("closed")
	f("", "lossBurst", "iceDisruption")
}
