package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodecConstants: what docs/quality.md says of codecs in words.
//
// spec: QUAL-01
func TestCodecConstants(t *testing.T) {
	usual := map[string]float64{"opus": 32e3, "g722": 64e3, "amr-wb": 12650, "evs": 13200}
	for _, c := range append(audioCodecs, unknownCodec) {
		lookaheadMs := 5.0
		name := "any other"
		if len(c.names) > 0 {
			name = c.names[0]
		}
		if name == "opus" {
			lookaheadMs = 6.5
		}
		require.InDelta(t, lookaheadMs, c.lookaheadMs, 0, name)
		require.InDelta(t, usual[name], c.defaultBps, 0, name)
		for _, p := range c.points {
			require.Equal(t, name == "opus", p.bursty > 0, "%s: only of Opus it is known what losses in runs do", name)
		}
	}
}

// TestVideoParamsAtTheirBounds: each bound is a value that is taken, what is past it is named.
func TestVideoParamsAtTheirBounds(t *testing.T) {
	f := func(name string, lo, hi float64, of func(*VideoParams) *float64) {
		t.Helper()
		for _, v := range []float64{lo, hi, lo - 1e-9, hi + 1e-9, math.NaN(), math.Inf(1), math.Inf(-1)} {
			p := DefaultVideoParams()
			*of(&p) = v
			if v >= lo && v <= hi {
				require.NoError(t, p.Validate(), "%s %v", name, v)
			} else {
				require.ErrorContains(t, p.Validate(), name, "%v", v)
			}
		}
	}
	f("x0", 4, 10, func(p *VideoParams) *float64 { return &p.X0 })
	f("freeze_count_weight", 0, 2, func(p *VideoParams) *float64 { return &p.FreezeCount })
	f("freeze_share_weight", 0, 20, func(p *VideoParams) *float64 { return &p.FreezeShare })
	f("outbound_loss_percent", 0.5, 100, func(p *VideoParams) *float64 { return &p.OutboundD })
}

// TestFrameRateOfWhatThereIs: the rate, else the frames of the interval, else the harmonic rate.
//
// spec: QUAL-01
func TestFrameRateOfWhatThereIs(t *testing.T) {
	f := func(in VideoInput, want float64, known bool) {
		t.Helper()
		got, ok := in.frameRate()
		require.Equal(t, known, ok)
		require.InDelta(t, want, got, 1e-12)
	}
	ms := Some(2000)
	f(VideoInput{IntervalMs: ms, FPS: Some(30), FramesDecoded: Some(44), Frames: Some(46), HarmonicFPS: Some(21)}, 30, true)
	f(VideoInput{IntervalMs: ms, FramesDecoded: Some(44), Frames: Some(46), HarmonicFPS: Some(21)}, 22, true)
	f(VideoInput{IntervalMs: ms, Frames: Some(46), HarmonicFPS: Some(21)}, 23, true)
	f(VideoInput{IntervalMs: ms, HarmonicFPS: Some(21)}, 21, true)
	f(VideoInput{IntervalMs: ms, FPS: Some(0), HarmonicFPS: Some(0)}, 0, false)
	f(VideoInput{IntervalMs: ms}, 0, false)
}

// TestNoPictureIsFrozen: an interval without a picture has the lowest score, all of it frozen.
//
// spec: QUAL-01
func TestNoPictureIsFrozen(t *testing.T) {
	in := camera("VP8", 640, 480, 800, 30)
	in.FreezeMs, in.Freezes = Some(10_000), Some(1)
	res := ScoreVideo(in, DefaultVideoParams())
	require.InDelta(t, 1, res.MOS, 0)
	share, ok := res.Input(InFrozenFraction)
	require.True(t, ok)
	require.InDelta(t, 1, share, 0)
}
