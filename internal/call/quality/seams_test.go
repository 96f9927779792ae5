package quality

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// continuous fails if a small step across a seam makes more than a small difference.
func continuous(t *testing.T, name string, at float64, score func(float64) float64) {
	t.Helper()
	require.InDelta(t, score(at*(1-1e-9)), score(at*(1+1e-9)), 1e-6, "%s at %v", name, at)
}

// At every point of every codec that is rated by its bit rate, whatever the loss.
//
// spec: QUAL-01
func TestCodecsAreContinuousInBitRate(t *testing.T) {
	for _, codec := range audioCodecs {
		for _, p := range codec.points {
			if !codec.rated() || p.bps <= minSpeechBps {
				continue
			}
			for _, lost := range []float64{0, 5, 40, 200} {
				for _, run := range []float64{1, 2.5, 9} {
					continuous(t, fmt.Sprint(codec.names, lost, run), p.bps, func(bps float64) float64 {
						in := opusCall()
						in.Codec = codec.names[0]
						in.Set(protocol.PacketsLost, lost)
						in.Set(protocol.Bytes, bps*5/8)
						in.Set(protocol.Samples, 240_000)
						in.Set(protocol.ConcealedSamples, 960*lost)
						in.Set(protocol.ConcealmentEvents, lost/run)
						return audioMOS(t, in)
					})
				}
			}
		}
	}
}

// Where one measurement takes the place of another.
//
// spec: QUAL-01
func TestLossIsContinuousAtSeams(t *testing.T) {
	audio := func(name string, at float64, change func(*event.Measurement, float64)) {
		t.Helper()
		continuous(t, name, at, func(v float64) float64 {
			in := opusCall()
			in.Set(protocol.Samples, 240_000)
			in.Set(protocol.ConcealedSamples, 4800)
			in.Set(protocol.ConcealmentEvents, 2)
			change(&in, v)
			return audioMOS(t, in)
		})
	}
	audio("no loss, and next to none", 1e-9, func(in *event.Measurement, v float64) {
		in.Set(protocol.ConcealedSamples, 0)
		in.Set(protocol.PacketsLost, v)
	})
	audio("lost as many as were concealed", 250.0/49, func(in *event.Measurement, v float64) { in.Set(protocol.PacketsLost, v) })
	audio("all of it silent", 4800, func(in *event.Measurement, v float64) { in.Set(protocol.SilentConcealedSamples, v) })
	audio("all of it repaired", 40, func(in *event.Measurement, v float64) {
		in.Set(protocol.PacketsLost, 40)
		in.Set(protocol.FECPackets, v)
	})
	audio("all of it lost", 250, func(in *event.Measurement, v float64) {
		in.Put(protocol.ConcealedSamples, event.Value{})
		in.Set(protocol.PacketsDiscarded, v)
	})
	audio("all of it repaired by copies", 40, func(in *event.Measurement, v float64) {
		in.Set(protocol.PacketsLost, 40)
		in.Set(protocol.PacketsDiscarded, v)
	})
	audio("the target passes the measured rate", 32e3, func(in *event.Measurement, v float64) { in.Set(protocol.TargetBitrateBps, v) })
	audio("packets of 20 ms fill the interval", 250, func(in *event.Measurement, v float64) { in.Set(protocol.Packets, v) })
	audio("delay", 2*(noDelayMs-66.5), func(in *event.Measurement, v float64) { in.Set(protocol.RTTMs, v) })
	audio("the model's longest delay", 2*(maxDelayMs-66.5), func(in *event.Measurement, v float64) { in.Set(protocol.RTTMs, v) })
}

// spec: QUAL-01
func TestVideoIsContinuousAtSeams(t *testing.T) {
	video := func(name string, at float64, change func(*event.Measurement, float64)) {
		t.Helper()
		continuous(t, name, at, func(v float64) float64 {
			in := camera("VP8", 640, 360, 500, 20)
			change(&in, v)
			return videoMOS(t, in)
		})
	}
	even := 20 * (1 - 1e-12) // the plain rate
	video("the uneven rate takes over", 20, func(in *event.Measurement, v float64) {
		in.Set(protocol.FPS, even)
		in.Set(protocol.HarmonicFPS, v)
	})
	video("the frozen share takes over", 1e-6, func(in *event.Measurement, v float64) {
		in.Set(protocol.HarmonicFPS, even)
		in.Set(protocol.FreezeMs, v)
	})
	video("pauses outlast freezes", 700, func(in *event.Measurement, v float64) {
		in.Set(protocol.FreezeMs, 700)
		in.Set(protocol.PauseMs, v)
	})
	video("freezes of a minute", 60_000, func(in *event.Measurement, v float64) {
		in.IntervalMs = v
		in.Set(protocol.Bytes, v*62.5)
		in.Set(protocol.Freezes, 5)
		in.Set(protocol.Freezes60s, 5)
	})
	video("all sent again", 625_000-minCodingBps*10/8, func(in *event.Measurement, v float64) {
		*in = sent("VP8", 640, 360, 500, 20)
		in.Set(protocol.RetransmittedBytes, v)
		in.Limitation = "bandwidth"
	})
	video("no loss, and next to none", 1e-9, func(in *event.Measurement, v float64) {
		in.StatsType = protocol.OutboundRTP
		in.Set(protocol.RemoteLossFraction, v)
	})
	for codec, edges := range map[string][2]float64{"VP8": {29, 95}, "VP9": {96, 185}, "H264": {24, 37}} {
		for _, qp := range edges {
			video(codec, qp, func(in *event.Measurement, v float64) {
				in.Screen = true
				in.Codec = codec
				in.Set(protocol.QP, v)
			})
		}
	}
}

// steps are where a score jumps on purpose, because what happened is another thing from there:
// docs/quality.md names each, by these words, with its size.
var steps = []struct {
	words        string
	above, below func(*testing.T) float64
}{
	{"at 6 kbit/s", speaking(6000, 0.1), speaking(5999, 0.1)},
	{"at -50 dBov", speaking(8000, silenceLevel), speaking(8000, silenceLevel*0.999)},
	{"frozen altogether", pausing(9999), pausing(10_000)},
	{"a pause of 5 s", pausing(5000), pausing(5001)},
}

func speaking(bps, level float64) func(*testing.T) float64 {
	return func(t *testing.T) float64 {
		t.Helper()
		in := opusCall()
		in.Set(protocol.Bytes, bps*5/8)
		in.Set(protocol.AudioLevel, level)
		return audioMOS(t, in)
	}
}

// pausing is a good picture that stood still: up to 5 s as one pause, beyond as freezes.
func pausing(ms float64) func(*testing.T) float64 {
	return func(t *testing.T) float64 {
		t.Helper()
		in := camera("VP8", 1280, 720, 2500, 30)
		in.Set(protocol.FreezeMs, ms)
		if ms < 9000 {
			in.Set(protocol.PauseMs, ms)
		}
		return videoMOS(t, in)
	}
}

// spec: QUAL-01
func TestStepsAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/quality.md")
	require.NoError(t, err)
	for _, s := range steps {
		above, below := s.above(t), s.below(t)
		require.Greater(t, math.Abs(above-below), 0.3, s.words)
		row := fmt.Sprintf("| %s | %.2f | %.2f |", s.words, above, below)
		require.Contains(t, string(text), row)
	}
}
