package quality

import "math"

// decimals is 10 to the number of decimals of a score and its inputs: as many as the library
// sends. More have no meaning and take space in the store.
const decimals = 1e4

// Round rounds the score and its inputs to 4 decimals.
func (r *Result) Round() {
	r.MOS, r.MOSListening, r.R = round(r.MOS), round(r.MOSListening), round(r.R)
	for i := range r.Inputs() {
		r.inputs[i].Value = round(r.inputs[i].Value)
	}
}

// round returns v with 4 decimals, unchanged if it has none: a very large number, an infinity, NaN.
func round(v float64) float64 {
	scaled := v * decimals
	if !(math.Abs(scaled) < 1<<53) {
		return v
	}
	return math.Round(scaled) / decimals
}
