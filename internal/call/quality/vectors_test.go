package quality

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// scoredCodec says what a browser calls the codecs of the test points, and at which bit rate
// the point is.
func scoredCodec(v vector) (codec string, bps float64, scored bool) {
	kbps, published := strings.CutSuffix(v["codec"][strings.LastIndexByte(v["codec"], ' ')+1:], "k")
	rate, err := strconv.ParseFloat(kbps, 64)
	switch name := v["codec"]; {
	case strings.HasPrefix(name, "Opus"):
		codec = "opus"
	case strings.HasPrefix(name, "EVS"):
		codec = "EVS"
	default:
		codec, scored = map[string]string{
			"G.711+PLC": "PCMU", "G.729A+VAD": "G729", "G.723.1 6.3k+VAD": "G723", "GSM-EFR": "GSM-EFR",
		}[name]
		return codec, 0, scored
	}
	return codec, 1000 * rate, published && err == nil
}

// reducedScale is what divides R of a model's points.
var reducedScale = map[string]float64{"G.107r": 1, "G.107.1": 1.29, "G.107.2": 1.48}

// interval is a measurement with just the loss, the delay and the bit rate of a test point.
func (v vector) interval(t *testing.T, codec string, bps float64) event.Measurement {
	t.Helper()
	fixed := 25.0 // ms of packet and look-ahead
	if codec == "opus" {
		fixed = 26.5
	}
	ta, lost := v.numOr(t, "Ta_ms", 0), 10*v.num(t, "Ppl_pct")
	in := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, Codec: codec, IntervalMs: 20_000}, eventtest.Values{
		protocol.Packets: 1000 - lost, protocol.PacketsLost: lost, protocol.RTTMs: 0, protocol.JitterBufferDelayMs: math.Max(0, ta-fixed), protocol.TargetBitrateBps: bps, protocol.Samples: 960_000, protocol.ConcealedSamples: 960 * lost, protocol.ConcealmentEvents: lost,
	})
	if v["BurstR"] == "" { // the points of Bpl in runs
		in.Set(protocol.ConcealmentEvents, lost/burstyRun)
	}
	return in
}

// TestScoresAreThoseOfTheTestPoints: what the processor gives for a measurement of each codec is
// the test point's score, and not only the formula's for given factors. What is left out is
// named, and what differs on purpose differs as docs/quality.md says.
//
// spec: QUAL-01
func TestScoresAreThoseOfTheTestPoints(t *testing.T) {
	exact, capped, rescaled := 0, 0, 0
	out := map[string]int{}
	for i, v := range readVectors(t, "testdata/emodel_vectors.csv") {
		codec, bps, scored := scoredCodec(v)
		scale := reducedScale[v["model"]]
		switch {
		case !scored || scale == 0:
			out[v["model"]+" "+v["codec"]]++
			continue
		case v.numOr(t, "BurstR", 1) != 1:
			out["BurstR"]++
			continue
		case codec == "EVS" && bps > 24_400:
			out["EVS above 24.4k"]++
			continue
		}
		res := scoreAudio(v.interval(t, codec, bps))
		require.True(t, res.OK(), "row %d %v: %s", i+2, v, res.Reason)
		point := v.num(t, "MOS")
		if codec == "opus" && scale != 1.48 { // read on the fullband scale
			point = MOS(v.num(t, "R") / 1.48)
			rescaled++
		}
		if math.Abs(point-res.MOS) <= 1e-4 {
			exact++
			continue
		}
		capped++
		limit := 0.16
		if strings.Contains(v["codec"], "Opus WB") {
			limit = 0.62
		}
		require.Less(t, res.MOS, point, "row %d %v", i+2, v)
		require.Less(t, point-res.MOS, limit, "row %d %v", i+2, v)
	}
	require.Equal(t, []int{189, 58, 35}, []int{exact, capped, rescaled})
	require.Equal(t, map[string]int{
		"G.107 G.711": 1, "G.107 G.711+PLC": 14, "R->MOS -": 5, // the full formula, and no codec
		"G.107r G.711 noPLC": 7, "G.107.1 clean": 14, "G.107.2 clean": 14, // no codec of a browser's
		"BurstR": 6, "EVS above 24.4k": 10,
	}, out)
}
