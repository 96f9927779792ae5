package quality

import "math"

// Band is an audio bandwidth, with the E-model scale for it.
type Band uint8

// The bands and the recommendations that rate them.
const (
	Narrowband Band = iota // G.107: up to 4 kHz
	Wideband               // G.107.1: up to 8 kHz
	Fullband               // G.107.2: super-wideband and fullband
)

// bands holds the constants of each band. The three scales are one scale, continued upwards: the
// best R is 93.2 in narrowband, 129 in wideband, 148 in fullband. R divided by 1, 1.29 or 1.48 is
// the rating within the band, 0 to 100.
var bands = [...]struct{ best, lossCeiling, scale float64 }{
	Narrowband: {93.2, 95, 1},
	Wideband:   {129, 95, 1.29}, // G.107.1 keeps G.107's 95 in Ie,eff
	Fullband:   {148, 132, 1.48},
}

// noDelayMs is mT of G.107 Table 1 (default class): the longest delay without an impairment.
const noDelayMs = 100

// Scale returns the divisor of R that yields a rating of 0 to 100.
func (b Band) Scale() float64 { return bands[b].scale }

// listening returns the reduced E-model's R without delay, on the band's own scale: at most 93.2, 129
// or 148, and below 0 under heavy impairment. ie and bpl are the equipment factors, ppl is the packet
// loss in percent, burstR the burst ratio (1: random loss, the only one that G.107.2 defines).
func (b Band) listening(ie, bpl, ppl, burstR float64) float64 {
	return bands[b].best - effectiveIe(bands[b].lossCeiling, ie, bpl, ppl, burstR)
}

// effectiveIe returns the equipment factor under loss, by (7-29).
func effectiveIe(ceiling, ie, bpl, ppl, burstR float64) float64 {
	if ppl <= 0 {
		return ie
	}
	return ie + (ceiling-ie)*ppl/(ppl/burstR+bpl)
}

// Idd returns the impairment by a one-way delay of ta ms on the narrowband scale, by (7-27) and
// (7-28). The common approximation 0.024 d + 0.11 (d-177.3) is 2 to 10 points higher.
func Idd(ta float64) float64 {
	if !(ta > noDelayMs) {
		return 0
	}
	x := math.Log2(ta / noDelayMs)
	return math.Max(0, 25*(sixthNorm(x)-3*sixthNorm(x/3)+2))
}

// sixthNorm returns (1+x^6)^(1/6).
func sixthNorm(x float64) float64 {
	x2 := x * x
	return math.Pow(1+x2*x2*x2, 1.0/6)
}

// MOS maps a rating of 0 to 100 to a mean opinion score of 1 to 4.5 (G.107 Annex B).
// The rating is clamped first, since the cubic is undefined outside, and the score is
// clamped at 1, since the cubic is as low as 0.989 below a rating of 6.5.
func MOS(rating float64) float64 {
	r := clamp(rating, 0, 100)
	return math.Max(1, 1+0.035*r+r*(r-60)*(100-r)*7e-6)
}

// clamp returns v limited to lo..hi, and lo for NaN.
func clamp(v, lo, hi float64) float64 {
	if !(v > lo) {
		return lo
	}
	return math.Min(v, hi)
}
