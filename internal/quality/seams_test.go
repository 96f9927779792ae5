package quality

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
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
						in.Codec, in.PacketsLost, in.Bytes = codec.names[0], Some(lost), Some(bps*5/8)
						in.Samples, in.ConcealedSamples, in.ConcealmentEvents = Some(240_000), Some(960*lost), Some(lost/run)
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
	audio := func(name string, at float64, change func(*AudioInput, float64)) {
		t.Helper()
		continuous(t, name, at, func(v float64) float64 {
			in := opusCall()
			in.Samples, in.ConcealedSamples, in.ConcealmentEvents = Some(240_000), Some(4800), Some(2)
			change(&in, v)
			return audioMOS(t, in)
		})
	}
	audio("no loss, and next to none", minValue, func(in *AudioInput, v float64) { in.ConcealedSamples, in.PacketsLost = Some(0), Some(v) })
	audio("lost as many as were concealed", 250.0/49, func(in *AudioInput, v float64) { in.PacketsLost = Some(v) })
	audio("all of it silent", 4800, func(in *AudioInput, v float64) { in.SilentConcealedSamples = Some(v) })
	audio("all of it repaired", 40, func(in *AudioInput, v float64) { in.PacketsLost, in.FECPackets = Some(40), Some(v) })
	audio("all of it lost", 250, func(in *AudioInput, v float64) { in.PacketsDiscarded = Some(v) })
	audio("the target passes the measured rate", 32e3, func(in *AudioInput, v float64) { in.TargetBitrateBps = Some(v) })
	audio("packets of 20 ms fill the interval", 250, func(in *AudioInput, v float64) { in.Packets = Some(v) })
	audio("delay", 2*(noDelayMs-66.5), func(in *AudioInput, v float64) { in.RTTMs = Some(v) })
	audio("the model's longest delay", 2*(maxDelayMs-66.5), func(in *AudioInput, v float64) { in.RTTMs = Some(v) })
}

// spec: QUAL-01
func TestVideoIsContinuousAtSeams(t *testing.T) {
	video := func(name string, at float64, change func(*VideoInput, float64)) {
		t.Helper()
		continuous(t, name, at, func(v float64) float64 {
			in := camera("VP8", 640, 360, 500, 20)
			change(&in, v)
			return videoMOS(t, in)
		})
	}
	even := 20 * (1 - 1e-12) // the plain rate
	video("the uneven rate takes over", 20, func(in *VideoInput, v float64) { in.FPS, in.HarmonicFPS = Some(even), Some(v) })
	video("the frozen share takes over", 1e-6, func(in *VideoInput, v float64) { in.HarmonicFPS, in.FreezeMs = Some(even), Some(v) })
	video("pauses outlast freezes", 700, func(in *VideoInput, v float64) { in.FreezeMs, in.PauseMs = Some(700), Some(v) })
	video("freezes of a minute", 60_000, func(in *VideoInput, v float64) {
		in.IntervalMs, in.Bytes, in.Freezes, in.Freezes60s = Some(v), Some(v*62.5), Some(5), Some(5)
	})
	video("all sent again", 625_000-minCodingBps*10/8, func(in *VideoInput, v float64) {
		in.RetransmittedBytes, in.BandwidthLimited = Some(v), true
	})
	video("no loss, and next to none", minValue, func(in *VideoInput, v float64) { in.Outbound, in.RemoteLossFraction = true, Some(v) })
	for codec, edges := range map[string][2]float64{"VP8": {29, 95}, "VP9": {96, 185}, "H264": {24, 37}} {
		for _, qp := range edges {
			video(codec, qp, func(in *VideoInput, v float64) { in.Screen, in.Codec, in.QP = true, codec, Some(v) })
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
		in.Bytes, in.AudioLevel = Some(bps*5/8), Some(level)
		return audioMOS(t, in)
	}
}

// pausing is a good picture that stood still: up to 5 s as one pause, beyond as freezes.
func pausing(ms float64) func(*testing.T) float64 {
	return func(t *testing.T) float64 {
		t.Helper()
		in := camera("VP8", 1280, 720, 2500, 30)
		in.FreezeMs = Some(ms)
		if ms < 9000 {
			in.PauseMs = Some(ms)
		}
		return videoMOS(t, in)
	}
}

// spec: QUAL-01
func TestStepsAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	for _, s := range steps {
		above, below := s.above(t), s.below(t)
		require.Greater(t, math.Abs(above-below), 0.3, s.words)
		row := fmt.Sprintf("| %s | %.2f | %.2f |", s.words, above, below)
		require.Contains(t, string(text), row)
	}
}
