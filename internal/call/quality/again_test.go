package quality

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stored is what the store keeps of a score, and nothing else of its measurement.
type stored struct {
	model, codec     string
	outbound, screen bool
	inputs           map[string]float64
}

func store(res *Result, codec string, outbound, screen bool) stored {
	s := stored{model: res.Model, codec: strings.ToLower(codec), outbound: outbound, screen: screen, inputs: map[string]float64{}}
	for _, in := range res.Inputs() {
		s.inputs[in.Name.String()] = in.Value
	}
	return s
}

// or returns an input, or what stands for it where it is not stored.
func (s stored) or(name string, without float64) float64 {
	if v, ok := s.inputs[name]; ok {
		return v
	}
	return without
}

// again computes a score from what is stored, by the formulae of docs/quality.md. Of the
// package it uses the tables alone.
func (s stored) again() float64 {
	if strings.HasPrefix(s.model, "qos-audio/8 ") {
		return s.audio()
	}
	return s.video()
}

func (s stored) audio() float64 {
	codec := unknownCodec
	for _, c := range audioCodecs {
		for _, name := range c.names {
			if name == s.codec {
				codec = c
			}
		}
	}
	best := map[Band][3]float64{Narrowband: {93.2, 95, 1}, Wideband: {129, 95, 1.29}, Fullband: {148, 132, 1.48}}
	ppl, bursty := 100*s.inputs["loss_fraction"], min(1, max(0, s.or("loss_run_packets", 0)-2))
	point := func(p ratePoint) float64 {
		bpl := p.bpl
		if p.bursty > 0 {
			bpl = (1-bursty)*p.bpl + bursty*p.bursty
		}
		b := best[p.band]
		return (b[0] - p.ie - (b[1]-p.ie)*ppl/(ppl+bpl)) / best[codec.scale][2]
	}
	bps := s.or("bitrate_bps", math.Inf(1))
	rx := point(codec.points[len(codec.points)-1])
	for i := len(codec.points) - 2; i >= 0; i-- {
		p, next := codec.points[i], codec.points[i+1]
		if bps >= next.bps {
			break
		}
		here := min(rx, point(p))
		rx = here + (rx-here)*max(0, bps-p.bps)/(next.bps-p.bps)
		if bps > p.bps {
			break
		}
		rx = here
	}
	if ta := s.inputs["delay_ms"]; ta > 100 {
		x := math.Log(ta/100) / math.Ln2
		rx -= 25 * (math.Pow(1+math.Pow(x, 6), 1.0/6) - 3*math.Pow(1+math.Pow(x/3, 6), 1.0/6) + 2)
	}
	rx = min(100, max(0, rx))
	return max(1, 1+0.035*rx+rx*(rx-60)*(100-rx)*7e-6)
}

func (s stored) video() float64 {
	pixels, known := s.inputs["pixels"]
	if !known {
		return 1 // wholly frozen
	}
	w := s.or("freeze_count_weight", 0.10)
	n := s.or("freezes_60s", 0)
	if uneven, ok := s.inputs["harmonic_fps"]; ok && w > 0 {
		n = max(n, min(1, math.Log(s.coding(pixels, s.inputs["fps"])/s.coding(pixels, uneven))/w))
	}
	f := math.Exp(-w*n) * math.Exp(-s.or("freeze_share_weight", 2)*s.or("frozen_fraction", 0))
	u := 1.0
	if s.outbound {
		f *= math.Exp(-100 * s.or("loss_fraction", 0) / s.or("outbound_loss_percent", 10))
	} else if k := math.Log2(s.or("displayed_pixels", pixels) / pixels); k > 0 {
		u = 1 / (1 + 0.029*k*k)
	}
	return 1 + 3.664*s.coding(pixels, s.inputs["fps"])*u*f
}

// coding is C T at a frame rate.
func (s stored) coding(pixels, fps float64) float64 {
	t := 1.0
	if !s.screen && fps < 24 {
		t = max(0, 1-0.30*math.Log(24/fps))
	}
	if qp, ok := s.inputs["qp"]; ok {
		edges := map[string][3]float64{
			"vp8": {29, 95, 160}, "vp9": {100, 207, 277}, "av1": {101, 207, 277}, "h264": {24, 37, 51}, "h265": {24, 37, 51},
		}[s.codec]
		switch {
		case qp <= edges[0]:
			return t * (1 - 0.13*qp/edges[0])
		case qp <= edges[1]:
			return t * (0.87 - 0.23*(qp-edges[0])/(edges[1]-edges[0]))
		}
		return t * (0.64 - 0.54*min(1, (qp-edges[1])/(edges[2]-edges[1])))
	}
	if s.screen || !s.outbound {
		return 0.87 * t
	}
	eff := map[string]float64{"vp9": 0.58, "h265": 0.58, "av1": 0.88}[s.codec]
	c := func(fps float64) float64 {
		x := math.Log(s.inputs["bitrate_bps"]) - 0.383*math.Log(pixels) + 0.617*max(0, math.Log(307200/pixels)) - 0.25*math.Log(fps) + eff
		c := 1 / (1 + math.Exp(-(x-s.or("x0", 7))/0.722))
		if _, unlimited := s.inputs["target_bitrate_bps"]; unlimited {
			c = max(c, 0.87)
		}
		return c
	}
	if fps >= 24 {
		return c(fps)
	}
	return min(c(24), c(fps)*t)
}

// TestAnyoneCanComputeAScoreAgain: from what is stored beside it, and the document. It draws until each model has
// scored: most inputs that are drawn at random are no evidence for a score.
//
// spec: QUAL-01
func TestAnyoneCanComputeAScoreAgain(t *testing.T) {
	scored := map[string]int{}
	again := func(t *rapid.T, res *Result, codec string, outbound, screen bool) {
		if res.OK() {
			scored[res.Model]++
			require.InDelta(t, res.MOS, store(res, codec, outbound, screen).again(), 1e-6, "%+v", *res)
		}
	}
	audio := func(t *rapid.T) {
		in := drawAudio(t)
		res := scoreAudio(in)
		again(t, &res, in.Codec, in.Outbound(), false)
	}
	video := func(t *rapid.T) {
		in, p := drawVideo(t), DefaultVideoParams()
		if rapid.Bool().Draw(t, "changed") {
			p = VideoParams{X0: 7.7, FreezeCount: 0.2, FreezeShare: 3, OutboundD: 5}
		}
		res := ScoreVideo(&in, p)
		again(t, &res, in.Codec, in.Outbound(), in.Screen)
	}
	for _, model := range []string{modelNarrowband, modelWideband, modelFullband, modelVideo} {
		check := audio
		if model == modelVideo {
			check = video
		}
		for rounds := 0; scored[model] < 10; rounds++ {
			require.Less(t, rounds, 100, "%s scored %d times in 10,000 draws", model, scored[model])
			rapid.Check(t, check)
		}
	}
}
