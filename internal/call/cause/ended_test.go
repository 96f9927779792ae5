package cause_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// TestWhoGatheredNoCandidate: of two ends that do not connect, the one without a local candidate is at fault.
//
// spec: CONF-03
func TestWhoGatheredNoCandidate(t *testing.T) {
	f := func(a, b event.Value, session, peer string) {
		t.Helper()
		call := mesh("ab")
		for i, candidates := range []event.Value{a, b} {
			fabric := &call.People[i].Fabrics[0]
			fabric.Connected, fabric.Streams, fabric.Candidates = false, nil, candidates
		}
		got := cause.Find(call).Call
		require.Equal(t, []any{cause.ICEConnectivity, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%+v", got)
	}
	none, some, unknown := event.Known(0), event.Known(3), event.Value{}
	f(none, some, "a", "")
	f(some, none, "b", "")
	f(none, unknown, "a", "")
	f(none, none, "a", "b")
	f(some, some, "a", "b")
	f(unknown, unknown, "a", "b")
}

// TestTrackThatHadEnded: a camera that had ended before the call is at fault, if that lasted.
//
// spec: CONF-03
func TestTrackThatHadEnded(t *testing.T) {
	f := func(want cause.Cause, media string, ms float64) {
		t.Helper()
		call := mesh("ab")
		call.People[1].Fabrics[0].EndedTrackMs = map[string]float64{media: ms}
		got := cause.Find(call).Call
		require.Equal(t, want, got.Cause, "%+v", got)
		if want != cause.None {
			require.Equal(t, []string{"b", media}, []string{got.Session, got.MediaType})
		}
	}
	f(cause.SendingCapture, "video", minute)
	f(cause.SendingCapture, "audio", minute)
	f(cause.None, "video", minute/5)
	f(cause.None, "video", 0)
}
