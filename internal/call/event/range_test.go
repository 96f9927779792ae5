package event_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

func heard(values eventtest.Values) event.Measurement {
	return eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, IntervalMs: 2000}, values)
}

// TestDropOutOfRange: what no stream can have is named and dropped, the rest of the
// measurement stays.
//
// spec: CONF-03
func TestDropOutOfRange(t *testing.T) {
	f := func(name string, spoil func(*event.Measurement)) {
		t.Helper()
		m := heard(eventtest.Values{protocol.Packets: 100, protocol.Bytes: 8000, protocol.JitterMs: 3})
		m.DropOutOfRange()
		require.Zero(t, m.OutOfRange)
		spoil(&m)
		spoilt := m
		m.DropOutOfRange()
		require.Equal(t, []string{name}, m.OutOfRange.Names())
		require.Equal(t, 1, m.OutOfRange.Len())
		k := protocol.MeasureNamed(name)
		for other := range protocol.NumMeasures {
			if other == k {
				require.Equal(t, event.Value{}, m.Value(other))
			} else {
				require.Equal(t, spoilt.Value(other), m.Value(other), other)
			}
		}
	}
	set := func(k protocol.Measure, v float64) func(*event.Measurement) {
		return func(m *event.Measurement) { m.Set(k, v) }
	}
	f("packets", set(protocol.Packets, -1))
	f("packets", set(protocol.Packets, 1<<40))
	f("bytes", set(protocol.Bytes, 3e9))
	f("packetsLost", set(protocol.PacketsLost, -1e9))
	f("jitterMs", set(protocol.JitterMs, -4))
	f("remoteLossFraction", set(protocol.RemoteLossFraction, 40))
	f("framesDecoded", set(protocol.FramesDecoded, 1e7))
	f("targetBitrateBps", set(protocol.TargetBitrateBps, 2e11))
	f("width", set(protocol.Width, 65_536))
	f("plis", set(protocol.PLIs, -1))
	f("mos", func(m *event.Measurement) { m.Score.MOS = event.Known(5.1) })
	f("ssrc", func(m *event.Measurement) { m.SetSSRC(1 << 32) })
	f("intervalMs", func(m *event.Measurement) { m.IntervalMs = -5 })
	f("intervalMs", func(m *event.Measurement) { m.IntervalMs = math.NaN() })
	for _, k := range []protocol.Measure{protocol.PacketsLost, protocol.RemotePacketsLost} {
		m := heard(eventtest.Values{k: -3})
		m.DropOutOfRange()
		require.Zero(t, m.OutOfRange, "a loss may be taken back")
	}
}

// TestLongDelaysAreOutOfRange: no packet of a call is on its way for more than a minute.
//
// spec: CONF-03
func TestLongDelaysAreOutOfRange(t *testing.T) {
	for _, k := range []protocol.Measure{protocol.RTTMs, protocol.JitterMs, protocol.RemoteJitterMs, protocol.JitterBufferDelayMs} {
		m := heard(eventtest.Values{k: 60_000})
		m.DropOutOfRange()
		require.True(t, m.Known(k))
		m.Set(k, 60_000.1)
		m.DropOutOfRange()
		require.False(t, m.Known(k), k)
	}
}

// TestNeighboursLimit: a counter is unknown if its neighbour of the same interval does not allow it. A neighbour that was not
// measured allows anything, one that cannot be true allows what may happen without it.
//
// spec: CONF-03
func TestNeighboursLimit(t *testing.T) {
	f := func(values eventtest.Values, names ...string) {
		t.Helper()
		m := heard(values)
		m.DropOutOfRange()
		require.Equal(t, names, m.OutOfRange.Names())
		for _, name := range names {
			require.False(t, m.Known(protocol.MeasureNamed(name)))
		}
	}
	const packets, bytes, lost = protocol.Packets, protocol.Bytes, protocol.PacketsLost
	f(eventtest.Values{packets: 100, lost: 1600})
	f(eventtest.Values{packets: 100, lost: 1601}, "packetsLost")
	f(eventtest.Values{packets: 100, lost: -32_000}, "packetsLost")
	f(eventtest.Values{lost: 32_000})
	f(eventtest.Values{packets: 1e9, lost: 601}, "packets", "packetsLost")
	f(eventtest.Values{packets: 1e9, lost: 600}, "packets")
	f(eventtest.Values{packets: 100, bytes: 600_000})
	f(eventtest.Values{packets: 100, bytes: 2_700_000}, "bytes")
	f(eventtest.Values{packets: 30_000, bytes: 8000}, "packets")
	f(eventtest.Values{packets: 842, bytes: 0}) // a bridge probes without payload
	f(eventtest.Values{protocol.Samples: 96_000, protocol.ConcealedSamples: 96_300, protocol.SilentConcealedSamples: 88_984})
	f(eventtest.Values{protocol.Samples: 96_000, protocol.ConcealedSamples: 131_072}, "concealedSamples")
	f(eventtest.Values{packets: 50, protocol.Frames: 171, protocol.FramesDecoded: 300}, "frames", "framesDecoded")
	f(eventtest.Values{protocol.Frames: 60, protocol.FramesDropped: 500}, "framesDropped")
	f(eventtest.Values{packets: 100, protocol.RemotePacketsLost: 65_000, protocol.RemoteLossFraction: 0.98}, "remoteLossFraction", "remotePacketsLost")
	f(eventtest.Values{packets: 100, protocol.RemotePacketsLost: 0, protocol.RemoteLossFraction: 0.1}) // of an earlier report
}

// TestOutOfRangeNamed is the inverse of Names.
func TestOutOfRangeNamed(t *testing.T) {
	for k := range protocol.NumMeasures {
		require.Equal(t, []string{k.String()}, event.OutOfRangeNamed(k.String()).Names())
	}
	require.Equal(t, []string{"bytes", "packets"}, event.OutOfRangeNamed("packets,nothing,,bytes,packets").Names())
	require.Zero(t, event.OutOfRangeNamed(""))
}

// TestRangesGrowWithTheInterval: a counter may be as high as its interval is long; what came at
// once may fall into a short one.
func TestRangesGrowWithTheInterval(t *testing.T) {
	f := func(intervalMs, packets float64, in bool) {
		t.Helper()
		m := heard(eventtest.Values{protocol.Packets: packets})
		m.IntervalMs = intervalMs
		m.DropOutOfRange()
		require.Equal(t, in, m.Known(protocol.Packets))
	}
	f(2000, 4e4, true)
	f(2000, 4e4+1, false)
	f(60_000, 12e5, true)
	f(1, 2e4, true)
	f(0, 2e4+1, false)
}

// TestKnownValuesAreSound: whatever is set, what is known is finite, in its range, and 0 where
// it is as good as 0; what is unknown is 0.
func TestKnownValuesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := []float64{0, -1, 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 1e-300, -1e-300, 1 << 53}
		draw := rapid.OneOf(rapid.Float64Range(-10, 1000), rapid.SampledFrom(odd), rapid.Float64())
		var m event.Measurement
		m.IntervalMs = draw.Draw(t, "interval")
		set := map[protocol.Measure]float64{}
		for range rapid.IntRange(0, 20).Draw(t, "values") {
			k := protocol.Measure(rapid.IntRange(0, int(protocol.NumMeasures)-1).Draw(t, "measure"))
			set[k] = draw.Draw(t, "value")
			m.Set(k, set[k])
		}
		m.DropOutOfRange()
		once := m
		m.DropOutOfRange()
		require.Equal(t, once, m, "a second time drops nothing")
		for k := range protocol.NumMeasures {
			v, in := m.Value(k), set[k]
			switch {
			case !v.Known:
				require.Zero(t, v.V)
			case math.Abs(in) < 1e-9:
				require.Zero(t, v.V)
			default:
				require.Equal(t, in, v.V)
				require.True(t, v.V >= k.Info().Min && v.V <= k.Info().Max)
			}
			require.Equal(t, v.V, m.Get(k))
		}
	})
}

// TestLoss: of an inbound stream by what was lost on the way here, of an outbound one by what
// the remote end says.
//
// spec: CONF-03
func TestLoss(t *testing.T) {
	f := func(statsType string, values eventtest.Values, want event.Loss) {
		t.Helper()
		m := eventtest.With(event.Measurement{StatsType: statsType}, values)
		require.Equal(t, want, m.Loss())
	}
	in, out := protocol.InboundRTP, protocol.OutboundRTP
	v, none := event.Known, event.Value{}
	f(in, eventtest.Values{protocol.Packets: 90, protocol.PacketsLost: 10}, event.Loss{Lost: v(10), Expected: 100, Fraction: v(0.1)})
	f(in, eventtest.Values{protocol.Packets: 90, protocol.PacketsLost: -10}, event.Loss{Lost: v(-10), Expected: 90, Fraction: v(0)})
	f(in, eventtest.Values{protocol.PacketsLost: 10}, event.Loss{Lost: v(10), Expected: 10})
	f(in, eventtest.Values{protocol.Packets: 0, protocol.PacketsLost: 10}, event.Loss{Lost: v(10), Expected: 10, Fraction: v(1)})
	f(in, eventtest.Values{protocol.Packets: 90}, event.Loss{Expected: 90})
	f(in, eventtest.Values{protocol.PacketsLost: 0}, event.Loss{Lost: v(0)})
	f(in, eventtest.Values{protocol.Packets: 90, protocol.RemotePacketsLost: 3}, event.Loss{Expected: 90})
	f(out, eventtest.Values{protocol.Packets: 200, protocol.RemotePacketsLost: 10}, event.Loss{Lost: v(10), Expected: 200, Fraction: v(0.05)})
	f(out, eventtest.Values{protocol.Packets: 200, protocol.RemotePacketsLost: 300}, event.Loss{Lost: v(300), Expected: 200, Fraction: v(1)})
	f(out, eventtest.Values{protocol.Packets: 200, protocol.RemoteLossFraction: 0.25}, event.Loss{Lost: v(50), Expected: 200, Fraction: v(0.25)})
	f(out, eventtest.Values{protocol.Packets: 200, protocol.RemotePacketsLost: 10, protocol.RemoteLossFraction: 0.25}, event.Loss{Lost: v(10), Expected: 200, Fraction: v(0.25)})
	f(out, eventtest.Values{protocol.RemoteLossFraction: 0.25}, event.Loss{Lost: v(0), Fraction: v(0.25)})
	f(out, eventtest.Values{protocol.Packets: 200, protocol.PacketsLost: 10}, event.Loss{Expected: 200})
	require.Equal(t, event.Loss{Expected: 90}, event.LossOf(in, none, 90))
}

// TestActivity: what a fabric does makes and prolongs its conference, and so does a failure
// without a fabric of a function that was to lead to one. All else is annotation.
//
// spec: CONF-01, CONF-02, CONF-05
func TestActivity(t *testing.T) {
	for kind, want := range map[event.Kind]bool{
		event.KindStats: true, event.KindEvent: true, event.KindSkip: true,
		event.KindError: false, event.KindFeedback: false, event.KindLog: false, event.KindSDP: false, 0: false,
	} {
		for _, function := range []string{"", "getUserMedia"} {
			require.Equal(t, want, event.Activity(kind, 1, function), kind)
			require.Equal(t, kind == event.KindError && function != "", event.Activity(kind, 0, function), kind)
		}
		require.Equal(t, want, (&event.Event{Kind: kind, Fabric: 7, Function: "createOffer"}).Activity(), kind)
		require.False(t, (&event.Event{Kind: kind, Fabric: 7, Function: "createOffer"}).Attempt(), kind)
	}
	for function, want := range map[string]bool{
		"getUserMedia": true, "createOffer": true, "createAnswer": true, "setLocalDescription": true, "setRemoteDescription": true,
		"addIceCandidate": true, "iceConnectionFailure": true, "signalingError": true,
		"applicationLog": false, "applicationError": false, "": false, "getusermedia": false, "getDisplayMedia": false,
	} {
		e := event.Event{Kind: event.KindError, Function: function}
		require.Equal(t, want, e.Activity(), function)
		require.Equal(t, want, e.Attempt(), function)
		e.Kind = event.KindLog
		require.False(t, e.Attempt(), function)
	}
}
