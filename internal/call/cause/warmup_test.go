package cause_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
)

// TestWarmUpAccusesNobody: the time in which a new stream warms up is no evidence of a fault, and none of a good path either.
//
// spec: CONF-03
func TestWarmUpAccusesNobody(t *testing.T) {
	f := func(want cause.Cause, users string, change func(out, in *cause.Stream), more ...func(*cause.Call)) {
		t.Helper()
		call := mesh(users)
		stream(call.People, "a", "b", 90, change)
		for _, m := range more {
			m(&call)
		}
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	buffers := func(longMs, warmMs float64) func(out, in *cause.Stream) {
		return func(_, in *cause.Stream) {
			in.WaitingMs, in.WaitingWarmUpMs, in.GrownMs, in.HeldMs = longMs, warmMs, longMs, longMs
		}
	}
	limited := func(ms, warmMs float64) func(out, in *cause.Stream) {
		return func(out, in *cause.Stream) {
			out.Media, in.Media = "video", "video"
			out.LimitedMs, out.LimitedWarmUpMs = ms, warmMs
		}
	}
	f(cause.PathOrTURN, "abc", buffers(0.6*minute, 0))
	f(cause.None, "abc", buffers(0.6*minute, 0.6*minute))
	f(cause.PathOrTURN, "abc", buffers(0.9*minute, 0.3*minute))
	f(cause.PathOrTURN, "abcd", limited(0.3*minute, 0))
	f(cause.None, "abcd", limited(0.3*minute, 0.3*minute))
	f(cause.PathOrTURN, "ab", limited(0.6*minute, 0.3*minute))

	// The other path to b was long as well while it warmed up: b's machine may be at fault.
	f(cause.None, "abc", buffers(0.9*minute, 0), func(call *cause.Call) {
		for i := range call.People {
			for j := range call.People[i].Fabrics {
				for k := range call.People[i].Fabrics[j].Streams {
					if s := &call.People[i].Fabrics[j].Streams[k]; !s.Sends && call.People[i].Session == "b" && s.WaitingMs == 0 {
						s.WaitingMs, s.WaitingWarmUpMs, s.GrownMs, s.HeldMs = minute/2, minute/2, minute/2, minute/2
					}
				}
			}
		}
	})
}
