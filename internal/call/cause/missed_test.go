package cause_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
)

// missed: none of the packets that were sent arrived in this time.
func missed(ms float64) func(out, in *cause.Stream) {
	return func(_, in *cause.Stream) { in.NoneMs, in.QuietMs = ms, ms }
}

// TestOneWayMedia: packets that were sent and did not arrive are lost, whatever the receiver's count is; a
// third person shows whose network loses them.
//
// spec: CONF-03
func TestOneWayMedia(t *testing.T) {
	f := func(call cause.Call, want cause.Cause, session, peer string) {
		t.Helper()
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%+v", got)
	}
	call := func(users string, harm func(out, in *cause.Stream), ways ...string) cause.Call {
		c := mesh(users)
		for i := range c.People {
			c.People[i].Fabrics = nil
		}
		ssrc := int64(0)
		for _, from := range users {
			for _, to := range users {
				if from == to {
					continue
				}
				ssrc++
				var own func(out, in *cause.Stream)
				for _, way := range ways {
					if way == string(from)+string(to) {
						own = harm
					}
				}
				stream(c.People, string(from), string(to), ssrc, own)
			}
		}
		return c
	}
	f(call("ab", missed(0.8*minute), "ab"), cause.PathOrTURN, "a", "b")
	f(call("abc", missed(0.8*minute), "ab", "ac"), cause.SenderUplink, "a", "")
	f(call("abc", missed(0.8*minute), "ab", "cb"), cause.ReceiverDownlink, "b", "")
	f(call("ab", missed(0.1*minute), "ab"), cause.None, "", "")

	unmeasured := mesh("ab") // the receiver's browser does not know the stream
	for i := range unmeasured.People {
		if p := &unmeasured.People[i]; p.Session == "b" {
			p.Fabrics[0].Streams = p.Fabrics[0].Streams[1:]
		}
	}
	f(unmeasured, cause.PathOrTURN, "a", "b")
}

// TestStillPicture: a picture that stops changing is a fault of the camera, with little confidence.
//
// spec: CONF-03
func TestStillPicture(t *testing.T) {
	call := mesh("ab")
	stream(call.People, "a", "b", 9, func(out, in *cause.Stream) {
		out.Media, in.Media, out.FrozenMs = "video", "video", 0.5*minute
	})
	got := cause.Find(call).Call
	require.Equal(t, []any{cause.SendingCapture, "a", "video", 0.55}, []any{got.Cause, got.Session, got.MediaType, got.Confidence})
}

// TestWithin: a part of the call answers only where the whole has no answer, with less confidence.
//
// spec: CONF-03
func TestWithin(t *testing.T) {
	part := cause.Find(mesh("abc", "ab", "ac"))
	whole := cause.Verdict{Call: cause.Finding{Cause: cause.Unknown}, People: map[string]cause.Finding{"b": {Cause: cause.Unknown}, "c": {Cause: cause.None}}}
	got := whole.Within(part, 1000, 19_000)
	require.Equal(t, cause.SenderUplink, got.Call.Cause)
	require.InDelta(t, 0.9*part.Call.Confidence, got.Call.Confidence, 1e-4)
	require.Equal(t, "faultMs", got.Call.Evidence[0].Metric)
	require.InDelta(t, 18_000, got.Call.Evidence[0].Value, 0)
	require.Equal(t, []cause.Cause{cause.SenderUplink, cause.None}, []cause.Cause{got.People["b"].Cause, got.People["c"].Cause})
	known := cause.Find(mesh("ab", "ab"))
	require.Equal(t, known.Call, known.Within(part, 1000, 19_000).Call)
}
