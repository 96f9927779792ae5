package conference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// TestCauseFactsOf: the facts of one measurement, at the thresholds.
//
// spec: CONF-03
func TestCauseFactsOf(t *testing.T) {
	f := func(m event.Measurement, fact detect.Facts, want bool) {
		t.Helper()
		m.IntervalMs = 2000
		require.Equal(t, want, causeFactsOf(&m)&fact != 0, "%+v", m)
	}
	in := func(media string, jitterMs float64) event.Measurement {
		return eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: media}, eventtest.Values{protocol.Packets: 100, protocol.JitterMs: jitterMs, protocol.FPS: 15, protocol.PacketsLost: 0})
	}
	f(in(audio, 15), jittery, false)
	f(in(audio, 16), jittery, true)
	f(in(video, 30), jittery, false)
	f(in(video, 31), jittery, true)

	concealed := func(jitterMs float64) event.Measurement {
		m := in(audio, jitterMs)
		m.Set(protocol.Samples, 96_000)
		m.Set(protocol.ConcealedSamples, 9600)
		return m
	}
	f(concealed(5), choppy, true)
	f(concealed(25), choppy, false) // packets arrived too late
	uncounted := concealed(5)
	uncounted.Clear(protocol.PacketsLost)
	f(uncounted, choppy, false)
	uncounted.Clear(protocol.JitterMs)
	f(uncounted, lossSeen, false)

	out := func(targetBps, encodeMs, fps float64) event.Measurement {
		return eventtest.With(event.Measurement{StatsType: outboundRTP, MediaType: video, Limitation: "none"}, eventtest.Values{protocol.Packets: 100, protocol.TargetBitrateBps: targetBps, protocol.EncodeMs: encodeMs, protocol.FPS: fps})
	}
	f(out(30e3, 0, 15), limited, true)
	f(out(100e3, 0, 15), limited, false)
	f(out(0, 0, 15), limited, false)
	f(out(1e6, 1200, 14), busy, true)
	f(out(1e6, 1200, 15), busy, false) // a camera that gives 15, and the encoder keeps up
	f(out(1e6, 1200, 25), busy, false) // it keeps up
	f(out(1e6, 1600, 25), busy, true)
	f(out(1e6, 890, 10), busy, false)
	f(out(1e6, 950, 10), busy, true)
	still := func(targetBps event.Value) event.Measurement {
		m := eventtest.With(event.Measurement{StatsType: outboundRTP, MediaType: video}, eventtest.Values{protocol.Packets: 0})
		m.Put(protocol.TargetBitrateBps, targetBps)
		return m
	}
	f(still(event.Known(1e6)), nothing, true)
	f(still(event.Value{}), nothing, true)
	f(still(event.Known(0)), nothing, false) // a server requested no video

	layer := out(30e3, 0, 15)
	layer.RID = "q"
	f(layer, limited, false)
}

// TestFactMsWithout: excuses before, across the start of, inside, across the end of and after the time
// of a fact, and those that take all of it.
func TestFactMsWithout(t *testing.T) {
	var line detect.Timeline
	line.AddFacts(10_000, 20_000, weak)
	line.AddFacts(20_000, 30_000, nothing)
	line.AddFacts(40_000, 50_000, weak)
	for want, excuses := range map[float64][]Interval{
		20_000: {{StartMs: 0, EndMs: 10_000}, {StartMs: 20_000, EndMs: 40_000}, {StartMs: 50_000, EndMs: 60_000}},
		17_000: {{StartMs: 5_000, EndMs: 13_000}},
		16_000: {{StartMs: 12_000, EndMs: 14_000}, {StartMs: 46_000, EndMs: 48_000}},
		15_000: {{StartMs: 18_000, EndMs: 43_000}},
		9_000:  {{StartMs: 0, EndMs: 20_000}, {StartMs: 49_000, EndMs: 90_000}},
		0:      {{StartMs: 0, EndMs: 90_000}},
	} {
		require.InDelta(t, want, factMs(&line, weak, excuses), 0, "%v", excuses)
	}
	require.InDelta(t, 20_000, factMs(&line, weak, nil), 0)
}
