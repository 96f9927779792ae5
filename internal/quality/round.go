package quality

import "math"

// decimals is 10 to the number of decimals that a score and its inputs keep: as many as the
// library sends. More say nothing of a call, and take room in the store.
const decimals = 1e4

// Round limits the score and what went into it to 4 decimals. Reason, model and confidence stay.
func (r *Result) Round() {
	r.MOS, r.MOSListening, r.R = round(r.MOS), round(r.MOSListening), round(r.R)
	for i := range r.Inputs() {
		r.inputs[i].Value = round(r.inputs[i].Value)
	}
}

// round leaves a number that has no 4 decimals: one so large, an infinity, NaN.
func round(v float64) float64 {
	scaled := v * decimals
	if !(math.Abs(scaled) < 1<<53) {
		return v
	}
	return math.Round(scaled) / decimals
}
