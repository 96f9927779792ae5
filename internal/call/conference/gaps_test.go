package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestShortOutages: nothing passes for a second and a half of every eight, and no packet counts as lost, because browsers count
// none over so long a gap. If the packets arrive later the network stalls, which its jitter buffer shows, and if the sender
// paused nothing was missing: what was heard as concealed has no cause then.
//
// spec: CONF-03
func TestShortOutages(t *testing.T) {
	const every, missing = 4, 75 // measurements, packets
	f := func(want cause.Cause, change func(in, next, out *event.Measurement)) {
		t.Helper()
		c := conferencetest.NewCall()
		c.Sound("a", 0, 64, 100, 0)
		c.Sound("b", 0, 64, 100, 0)
		received, sent := c.Rows("b", "inbound-rtp"), c.Rows("a", "outbound-rtp")
		for i := range received {
			received[i].Set(protocol.Samples, 96_000)
			received[i].Set(protocol.ConcealedSamples, 0)
			received[i].Set(protocol.SilentConcealedSamples, 0)
		}
		for i := 2; i+1 < len(received); i += every {
			received[i].Set(protocol.Packets, 100-missing)
			received[i].Set(protocol.ConcealedSamples, missing*960)
			received[i].Set(protocol.SilentConcealedSamples, (missing-8)*960)
			if change != nil {
				change(received[i], received[i+1], sent[i])
			}
		}
		require.Equal(t, want, conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause.Cause)
	}
	f(cause.PathOrTURN, nil)
	f(cause.Unknown, func(_, next, _ *event.Measurement) { next.Set(protocol.Packets, 100+missing) })
	f(cause.Unknown, func(_, _, out *event.Measurement) { out.Set(protocol.Packets, 65) }) // not so few as with pauses
}
