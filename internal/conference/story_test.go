package conference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/detect"
)

// TestStoryOf: what one measurement says, at the thresholds.
//
// spec: CONF-03
func TestStoryOf(t *testing.T) {
	f := func(m Stats, fact detect.Facts, want bool) {
		t.Helper()
		m.IntervalMs = 2000
		require.Equal(t, want, storyOf(&m, false)&fact != 0, "%+v", m)
	}
	in := func(media string, jitterMs float64) Stats {
		return Stats{StatsType: "inbound-rtp", MediaType: media, Packets: 100, JitterMs: Known(jitterMs), FPS: Known(15)}
	}
	f(in(audio, 15), jittery, false)
	f(in(audio, 16), jittery, true)
	f(in(video, 30), jittery, false)
	f(in(video, 31), jittery, true)

	concealed := func(jitterMs float64) Stats {
		m := in(audio, jitterMs)
		m.Samples, m.ConcealedSamples = 96_000, 9600
		return m
	}
	f(concealed(5), choppy, true)
	f(concealed(25), choppy, false) // it came too late
	uncounted := concealed(5)
	uncounted.LossUntold = true
	f(uncounted, choppy, false)
	uncounted.JitterMs = Value{}
	f(uncounted, lossSeen, false)

	out := func(targetBps, encodeMs, fps float64) Stats {
		return Stats{StatsType: outboundRTP, MediaType: video, Packets: 100, Limitation: "none", TargetBitrateBps: Known(targetBps), EncodeMs: Known(encodeMs), FPS: Known(fps)}
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
	still := func(targetBps Value) Stats {
		return Stats{StatsType: outboundRTP, MediaType: video, PacketsSeen: Known(0), TargetBitrateBps: targetBps}
	}
	f(still(Known(1e6)), nothing, true)
	f(still(Value{}), nothing, true)
	f(still(Known(0)), nothing, false) // a server asked for none of it

	layer := out(30e3, 0, 15)
	layer.Rid = "q"
	f(layer, limited, false)
}
