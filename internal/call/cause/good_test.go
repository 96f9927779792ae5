package cause_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// harmedCalls are calls whose media show a cause, each of another kind.
func harmedCalls() map[string]cause.Call {
	sound := func(users string, change func(out, in *cause.Stream)) cause.Call {
		call := mesh(users)
		stream(call.People, "a", "b", 90, change)
		return call
	}
	pictures := func(change func(out, in *cause.Stream)) cause.Call {
		return sound("abc", func(out, in *cause.Stream) {
			out.Media, in.Media = "video", "video"
			change(out, in)
		})
	}
	alone := without(mesh("ab"), "b")
	change(alone, "a", "b", func(f *cause.Fabric) { f.FlowedMs = 3000 })
	served := behind("a")
	served.People[0].Fabrics[0].Streams[0].LimitedMs = minute
	ended := mesh("abc")
	change(ended, "c", "a", func(f *cause.Fabric) { f.EndedTrackMs = map[string]float64{"video": minute} })
	return map[string]cause.Call{
		"a silent microphone":         sound("ab", func(out, _ *cause.Stream) { out.WeakMs = minute / 2 }),
		"sound that is not sent":      sound("abc", func(out, _ *cause.Stream) { out.NoneMs = minute / 2 }),
		"a still picture":             pictures(func(out, _ *cause.Stream) { out.FrozenMs = minute / 2 }),
		"a busy encoder":              pictures(func(out, _ *cause.Stream) { out.CPUMs = minute / 2 }),
		"frames that are not shown":   pictures(func(_, in *cause.Stream) { in.StuckMs = minute / 2 }),
		"an uplink":                   mesh("abc", "ab", "ac"),
		"a path":                      mesh("ab", "ab"),
		"a track that had ended":      ended,
		"a disruption without effect": alone,
		"little bandwidth":            served,
	}
}

// TestGoodCallsHaveNoCause: a call without an issue and with good scores has no cause, whatever was measured, and no other is
// listed.
//
// spec: CONF-03
func TestGoodCallsHaveNoCause(t *testing.T) {
	for name, call := range harmedCalls() {
		require.NotContains(t, []cause.Cause{cause.None, cause.Unknown}, cause.Find(call).Call.Cause, name)
		call.Good = true
		verdict := cause.Find(call)
		for _, found := range verdict.People {
			require.Equal(t, cause.None, found.Cause, name)
		}
		require.Equal(t, cause.None, verdict.Call.Cause, name)
		require.Empty(t, verdict.Call.Others, name)
	}
}

// TestWhatIsReportedIsACauseOfAGoodCall: a failure that an application or ICE reported, a connection that was not established, and
// media that a server did not forward have no score.
//
// spec: CONF-03
func TestWhatIsReportedIsACauseOfAGoodCall(t *testing.T) {
	f := func(want cause.Cause, users string, harm func(*cause.Call)) {
		t.Helper()
		call := mesh(users)
		call.Good = true
		harm(&call)
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(cause.PermissionsOrDevices, "abc", func(call *cause.Call) {
		call.People[2].Errors = map[string]int{"getUserMedia": 1}
		call.People[2].Fabrics = nil
	})
	f(cause.Signalling, "abcd", func(call *cause.Call) {
		change(*call, "d", "a", func(f *cause.Fabric) { f.Connected, f.Described, f.Streams = false, false, nil })
	})
	f(cause.ICEConnectivity, "ab", func(call *cause.Call) { change(*call, "b", "a", unset) })
	f(cause.ICEConnectivity, "abc", func(call *cause.Call) { change(*call, "a", "c", snapped) })
	f(cause.MediaServer, "ab", func(call *cause.Call) {
		call.People = behind("abc").People
		silence(*call, "b")
	})
}

// TestNoneHasNoOthers: a call without a cause has no suspicion, whether its scores are good or not.
//
// spec: CONF-03
func TestNoneHasNoOthers(t *testing.T) {
	call := mesh("ab")
	call.People[0].Errors = map[string]int{"createOffer": 1}
	found := cause.Find(call).Call
	require.Equal(t, cause.None, found.Cause)
	require.Empty(t, found.Others)
	call.People[1].Fabrics[0].Streams[0].LostMs, call.People[1].Fabrics[0].Streams[0].Loss = minute/5, event.Known(0.02)
	found = cause.Find(call).Call
	require.Equal(t, cause.Unknown, found.Cause)
	require.NotEmpty(t, found.Others)
}

// TestListenersAreNotAtFault: who sends nothing may only listen, whatever the direction that was announced.
//
// spec: CONF-06
func TestListenersAreNotAtFault(t *testing.T) {
	for _, users := range []string{"ab", "abc"} {
		call := mesh(users)
		for i := range call.People {
			for j := range call.People[i].Fabrics {
				f := &call.People[i].Fabrics[j]
				f.Streams = keep(f.Streams, func(s *cause.Stream) bool {
					return s.Sends == (call.People[i].Session != "b") || f.Remote[0] != "b" && call.People[i].Session != "b"
				})
			}
		}
		require.Equal(t, cause.None, cause.Find(call).Call.Cause, users)
		call.People[0].Bad = true
		found := cause.Find(call).Call
		require.Equal(t, cause.Unknown, found.Cause, users)
		require.Contains(t, found.Others, cause.Other{Cause: cause.Application, Session: "b", Confidence: 0.4})
	}
}
