package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// TestCodecConstants: what docs/quality.md says of codecs in words.
//
// spec: QUAL-01
func TestCodecConstants(t *testing.T) {
	usual := map[string]float64{"opus": 32e3, "amr-wb": 12650, "evs": 13200}
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

// TestFrameRateOfWhatThereIs: the frames of the interval or the harmonic rate, the larger; else the rate of the last second.
//
// spec: QUAL-01
func TestFrameRateOfWhatThereIs(t *testing.T) {
	f := func(values eventtest.Values, want float64, known bool) {
		t.Helper()
		m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, IntervalMs: 2000}, values)
		got, ok := video{&m}.frameRate()
		require.Equal(t, known, ok)
		require.InDelta(t, want, got, 1e-12)
	}
	f(eventtest.Values{protocol.FPS: 30, protocol.FramesDecoded: 44, protocol.Frames: 46, protocol.HarmonicFPS: 21}, 22, true)
	f(eventtest.Values{protocol.FramesDecoded: 44, protocol.Frames: 46, protocol.HarmonicFPS: 21}, 22, true)
	f(eventtest.Values{protocol.Frames: 46, protocol.HarmonicFPS: 21}, 23, true)
	f(eventtest.Values{protocol.FPS: 30, protocol.FramesDecoded: 20, protocol.HarmonicFPS: 29}, 29, true) // it began in the interval
	f(eventtest.Values{protocol.FPS: 30, protocol.HarmonicFPS: 21}, 21, true)
	f(eventtest.Values{protocol.FPS: 30}, 30, true)
	f(eventtest.Values{protocol.FPS: 0, protocol.HarmonicFPS: 0}, 0, false)
	f(nil, 0, false)
}

// TestNoPictureIsFrozen: an interval without a picture has the lowest score, all of it frozen.
//
// spec: QUAL-01
func TestNoPictureIsFrozen(t *testing.T) {
	in := camera("VP8", 640, 480, 800, 30)
	in.Set(protocol.FreezeMs, 10_000)
	in.Set(protocol.Freezes, 1)
	res := scoreVideo(in)
	require.InDelta(t, 1, res.MOS, 0)
	share, ok := res.Input(InFrozenFraction)
	require.True(t, ok)
	require.InDelta(t, 1, share, 0)
}
