package cause_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// uneven gives the ways of a mesh jitter, ms, by default calm; over 15 is bad for all of the time.
func uneven(users string, calm float64, ways map[string]float64) cause.Call {
	call := mesh(users)
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			f := &call.People[i].Fabrics[j]
			for k := range f.Streams {
				s := &f.Streams[k]
				if s.Sends {
					continue
				}
				s.Jitter = event.Known(calm)
				if v, has := ways[f.Remote[0]+call.People[i].Session]; has {
					s.Jitter.V = v
				}
				if s.Jitter.V > cause.SoundJitterMs {
					s.JitteryMs = minute
				}
			}
		}
	}
	return call
}

// TestJitterMustStandOut: a busy machine causes jitter in all that it sends and receives, so only a
// path with more jitter than others is evidence.
//
// spec: CONF-03
func TestJitterMustStandOut(t *testing.T) {
	f := func(call cause.Call, want cause.Cause, session string) {
		t.Helper()
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session}, []any{got.Cause, got.Session}, "%+v", got)
	}
	f(uneven("ab", 20, nil), cause.Unknown, "")
	f(uneven("ab", 2, map[string]float64{"ab": 20}), cause.PathOrTURN, "a")
	f(uneven("abc", 20, nil), cause.Unknown, "")
	f(uneven("abc", 12, nil), cause.None, "")
	f(uneven("abc", 8, map[string]float64{"ba": 20, "bc": 20}), cause.SenderUplink, "b")
	f(uneven("abc", 8, map[string]float64{"ab": 20, "cb": 20}), cause.ReceiverDownlink, "b")
	f(uneven("abc", 14, map[string]float64{"ab": 20, "cb": 20}), cause.Unknown, "")
}

// slow makes the round trips of b long.
func slow(call cause.Call, seenMs float64) {
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			f := &call.People[i].Fabrics[j]
			if call.People[i].Session == "b" || f.Remote[0] == "b" {
				f.RTTMs, f.RTTSeenMs, f.SlowMs = event.Known(500), seenMs, seenMs
			}
		}
	}
}

// TestRoundTripHasNoDirection: jitter in one direction of an access shows which one is slow; without
// it the other direction is possible too, and the confidence is lower.
//
// spec: CONF-03
func TestRoundTripHasNoDirection(t *testing.T) {
	even := mesh("abc")
	slow(even, minute)
	got := cause.Find(even).Call
	require.Equal(t, "b", got.Session)
	require.Contains(t, got.Others, cause.Other{Cause: cause.ReceiverDownlink, Session: "b", Confidence: 0.4})

	call := uneven("abc", 2, map[string]float64{"ab": 20, "cb": 20})
	slow(call, minute)
	down := cause.Find(call).Call
	require.Equal(t, []any{cause.ReceiverDownlink, "b"}, []any{down.Cause, down.Session})
	require.Greater(t, down.Confidence, got.Confidence)

	call = uneven("abc", 2, map[string]float64{"ba": 20, "bc": 20})
	slow(call, minute)
	up := cause.Find(call).Call
	require.Equal(t, []any{cause.SenderUplink, "b"}, []any{up.Cause, up.Session})
}

// TestFewRoundTripsTellNothing: a share of next to no time is none.
func TestFewRoundTripsTellNothing(t *testing.T) {
	call := mesh("ab")
	slow(call, cause.MinTimeMs-1)
	require.Equal(t, cause.None, cause.Find(call).Call.Cause)
	slow(call, cause.MinTimeMs)
	require.Equal(t, cause.PathOrTURN, cause.Find(call).Call.Cause)
}

// TestOneMeasurementOfAMachineIsNone: a share of a short time is not enough.
func TestOneMeasurementOfAMachineIsNone(t *testing.T) {
	f := func(ms float64, want cause.Cause) {
		t.Helper()
		call := mesh("ab")
		change(call, "a", "b", func(f *cause.Fabric) { f.Streams[0].TimeMs, f.Streams[0].BusyMs = cause.MinTimeMs, ms })
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(2000, cause.None)
	f(4000, cause.SendingMachineCPU)
}

// TestBusyMachineAnswersLate: where all ways are uneven alike, a long round trip may be a
// machine's.
func TestBusyMachineAnswersLate(t *testing.T) {
	call := uneven("ab", 20, nil)
	slow(call, minute)
	require.Equal(t, cause.Unknown, cause.Find(call).Call.Cause)
	call = uneven("ab", 2, map[string]float64{"ab": 20})
	slow(call, minute)
	require.Equal(t, cause.PathOrTURN, cause.Find(call).Call.Cause)
}

// TestStallsShowInTheJitterBuffer: the buffer of a path that stalls grows, that of the others to the same receiver does
// not. Where all buffers of a receiver have grown, its machine may be slow.
//
// spec: CONF-03
func TestStallsShowInTheJitterBuffer(t *testing.T) {
	f := func(users string, want cause.Cause, session, peer string, ways ...string) {
		t.Helper()
		call := mesh(users)
		for _, way := range ways {
			change(call, way[1:], way[:1], func(f *cause.Fabric) {
				for k := range f.Streams {
					if !f.Streams[k].Sends {
						f.Streams[k].WaitingMs = minute
					}
				}
			})
		}
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%v", ways)
		if want != cause.None {
			require.True(t, slices.ContainsFunc(got.Evidence, func(e cause.Evidence) bool { return e.Metric == "jitterBufferDelayShare" && e.Value == 1 }), "%+v", got)
		}
	}
	f("abc", cause.SenderUplink, "b", "", "ba", "bc")
	f("abc", cause.PathOrTURN, "a", "b", "ab")
	f("abcd", cause.SenderUplink, "b", "", "ba", "bc", "bd", "ab", "cb", "db")
	f("abc", cause.None, "", "", "ba", "ca")
	f("ab", cause.None, "", "", "ba")
	f("abc", cause.None, "", "")
}

// TestGrownBuffers: a buffer that holds 120 to 200 ms for most of the time, as of packets that come out of order, is evidence
// beside buffers of less than 60 ms.
//
// spec: CONF-03
func TestGrownBuffers(t *testing.T) {
	f := func(want cause.Cause, grownMs, otherMs float64) {
		t.Helper()
		call := mesh("abc")
		for i := range call.People {
			p := &call.People[i]
			p.Measured = 20
			for j := range p.Fabrics {
				for k := range p.Fabrics[j].Streams {
					in := &p.Fabrics[j].Streams[k]
					if p.Fabrics[j].Remote[0] == "b" && !in.Sends {
						in.GrownMs, in.HeldMs = grownMs, grownMs
					} else {
						in.HeldMs = otherMs
					}
				}
			}
		}
		got := cause.Find(call).Call
		require.Equal(t, want, got.Cause)
		if want == cause.SenderUplink {
			require.Equal(t, "b", got.Session)
			require.Contains(t, got.Evidence, cause.Evidence{
				Metric: "jitterBufferDelayShare", Session: "a", Value: 0.6, ComparedWith: 0.5,
				Text: "the jitter buffer of audio held more than 120 ms, while others held less than 60, for 60 % of the time",
			})
		}
	}
	f(cause.SenderUplink, 0.6*minute, 0.1*minute)
	f(cause.None, 0.4*minute, 0.1*minute)
	f(cause.None, 0.6*minute, 0.3*minute)
}

// TestStallsOfAllPaths: where all buffers of a receiver have grown, they show a stall of the network in a call of two, or if
// somebody else's have not grown, unless the machine may be slow: it measures late, or its packets have jitter all the time.
//
// spec: CONF-03
func TestStallsOfAllPaths(t *testing.T) {
	f := func(want cause.Cause, call cause.Call, to string, do func(p *cause.Person, in *cause.Stream)) {
		t.Helper()
		for i := range call.People {
			p := &call.People[i]
			p.Measured = 20
			for j := range p.Fabrics {
				for k := range p.Fabrics[j].Streams {
					if in := &p.Fabrics[j].Streams[k]; p.Session == to && !in.Sends {
						in.WaitingMs = minute
						do(p, in)
					}
				}
			}
		}
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	nothing := func(*cause.Person, *cause.Stream) {}
	f(cause.PathOrTURN, mesh("ab"), "a", nothing)
	f(cause.None, mesh("ab"), "a", func(p *cause.Person, _ *cause.Stream) { p.OffBeat = 5 })
	f(cause.None, mesh("ab"), "a", func(p *cause.Person, _ *cause.Stream) { p.Measured = 5 })
	f(cause.None, mesh("ab"), "a", func(_ *cause.Person, in *cause.Stream) { in.JitteryMs = 0.3 * minute })

	f(cause.ReceiverDownlink, mesh("abc"), "a", nothing)
	f(cause.None, mesh("abc"), "a", func(p *cause.Person, _ *cause.Stream) { p.OffBeat = 5 })
	f(cause.ReceiverDownlink, behind("abc"), "c", nothing)
	everybody := behind("abc")
	for i := range everybody.People {
		for k := range everybody.People[i].Fabrics[0].Streams {
			if in := &everybody.People[i].Fabrics[0].Streams[k]; !in.Sends {
				in.WaitingMs = minute
			}
		}
	}
	f(cause.None, everybody, "c", nothing) // the application may have chosen the buffers
	for i := range everybody.People {
		fabric := &everybody.People[i].Fabrics[0]
		fabric.RTTMs, fabric.RTTSeenMs, fabric.SlowMs = event.Known(90), minute, 0.1*minute
	}
	f(cause.MediaServer, everybody, "c", nothing)
	everybody.People[0].OffBeat = 5
	f(cause.None, everybody, "c", nothing)
}
