package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// TestRound: halves away from zero, and what has no 4 decimals stays as it is.
//
// spec: QUAL-01
func TestRound(t *testing.T) {
	for v, want := range map[float64]float64{
		0: 0, 4.32104999: 4.3210, 4.32105001: 4.3211, 1.00004: 1, 1.00006: 1.0001, -0.00016: -0.0002, 921600: 921600,
		1234567.891251: 1234567.8913, 9e15: 9e15, 1e300: 1e300, math.MaxFloat64: math.MaxFloat64, 900719925474.1: 900719925474.1,
	} {
		require.InDelta(t, want, round(v), 0, "%v", v)
	}
	require.True(t, math.IsNaN(round(math.NaN())))
	require.True(t, math.IsInf(round(math.Inf(-1)), -1))
}

// TestRoundedResult: the score, the two beside it and each input have 4 decimals; all else stays.
//
// spec: QUAL-01
func TestRoundedResult(t *testing.T) {
	res := Result{MOS: 4.123456, MOSListening: 4.234567, R: 87.65432, Model: modelFullband, Assumed: AssumedRTT, extrapolated: true}
	res.add(InLossFraction, 0.0123456)
	res.add(InDelayMs, 71.55555)
	res.Round()
	want := Result{MOS: 4.1235, MOSListening: 4.2346, R: 87.6543, Model: modelFullband, Assumed: AssumedRTT, extrapolated: true}
	want.add(InLossFraction, 0.0123)
	want.add(InDelayMs, 71.5556)
	require.Equal(t, want, res)
	none := unscored(NoFrames)
	none.Round()
	require.Equal(t, unscored(NoFrames), none)
}

// rated draws a measurement as browsers make them: nothing is out of range.
func rated(t *rapid.T, m event.Measurement, ranges map[protocol.Measure][2]float64) event.Measurement {
	if rapid.Bool().Draw(t, "outbound") {
		m.StatsType = protocol.OutboundRTP
	}
	for k := range protocol.NumMeasures {
		if r, ok := ranges[k]; ok {
			m.Put(k, event.Known(rapid.Float64Range(r[0], r[1]).Draw(t, k.String())))
		}
	}
	m.IntervalMs = rapid.Float64Range(1000, 60_000).Draw(t, "interval")
	m.DropOutOfRange()
	return m
}

// TestRoundedScoresComeOutAgain: what a rounded score is computed from gives it within 0.01.
//
// spec: QUAL-01
func TestRoundedScoresComeOutAgain(t *testing.T) {
	scored := map[string]int{}
	check := func(t *rapid.T, res Result, m *event.Measurement) {
		if !res.OK() {
			return
		}
		scored[res.Model]++
		full := res
		res.Round()
		require.InDelta(t, full.MOS, res.MOS, 0.5/decimals+slack)
		require.InDelta(t, res.MOS, store(&res, m.Codec, m.Outbound(), m.Screen).again(), 0.01, "%+v", res)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rated(t, event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, Codec: rapid.SampledFrom([]string{
			"opus", "PCMU", "G722", "AMR-WB", "EVS", "",
		}).Draw(t, "codec")}, map[protocol.Measure][2]float64{
			protocol.Bytes: {1000, 1e6}, protocol.Packets: {50, 3000}, protocol.PacketsLost: {0, 500}, protocol.RTTMs: {0, 2000},
			protocol.JitterBufferDelayMs: {0, 500}, protocol.RemoteLossFraction: {0, 1}, protocol.Samples: {48_000, 2_880_000},
			protocol.ConcealedSamples: {0, 48_000}, protocol.ConcealmentEvents: {1, 40},
		})
		check(t, ScoreAudio(&in), &in)
	})
	rapid.Check(t, func(t *rapid.T) {
		in := rated(t, event.Measurement{
			StatsType: protocol.InboundRTP, MediaType: protocol.Video, Screen: rapid.Bool().Draw(t, "screen"),
			Codec: rapid.SampledFrom([]string{"VP8", "VP9", "AV1", ""}).Draw(t, "codec"),
		}, map[protocol.Measure][2]float64{
			protocol.Bytes: {1e5, 1e7}, protocol.Packets: {100, 1e4}, protocol.Width: {160, 3840}, protocol.Height: {90, 2160},
			protocol.FPS: {1, 60}, protocol.Frames: {10, 3600}, protocol.FramesDecoded: {10, 3600}, protocol.FreezeMs: {0, 5000},
			protocol.Freezes: {0, 20}, protocol.DisplayedPixels: {1e4, 8e6}, protocol.RemoteLossFraction: {0, 1},
		})
		check(t, ScoreVideo(&in, DefaultVideoParams()), &in)
	})
	for _, model := range []string{modelNarrowband, modelWideband, modelFullband, modelVideo} {
		require.NotZero(t, scored[model], model)
	}
}
