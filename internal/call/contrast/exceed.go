package contrast

import (
	"math"
	"slices"
)

// stratum is a table of two by two: a of n conferences in the set, and k of all N, have a value.
type stratum struct {
	a, n int // with the value in the set; in the set
	k, N int // with the value; all
}

// exactBelow is the variance of the count below which the distribution is computed exactly: a window
// of twelve standard deviations has at most some 240 entries.
const exactBelow = 100

// logExceed returns the logarithm of the probability that the count of conferences with the value in the
// set, summed over the strata, is at least as large as observed, if the value has no relation to the set
// (Cochran-Mantel-Haenszel, one-sided, conditional on all margins). It is exact below exactBelow, and the
// normal approximation with continuity correction above.
func logExceed(strata []stratum) float64 {
	observed, mean, variance := moments(strata)
	if variance == 0 {
		return 0
	}
	if variance < exactBelow {
		return logExact(strata, observed, negligible)
	}
	return logUpperTail((float64(observed) - 0.5 - mean) / math.Sqrt(variance))
}

// hopeless is the number of standard deviations above its mean up to which a count is no finding at any usual
// level: its p-value is above 0.06, also where the distribution is skew.
const hopeless = 1.5

// moderate is the number of standard deviations up to which a tail is far above negligibleBeside.
const moderate = 5

// logExceedIfStrong is logExceed for a count above hopeless. For the others, nearly all of those that are tested, it
// returns the normal approximation without continuity correction, which costs a hundredth.
func logExceedIfStrong(strata []stratum) float64 {
	observed, mean, variance := moments(strata)
	z := (float64(observed) - mean) / math.Sqrt(variance)
	switch {
	case z <= hopeless:
		return logUpperTail(z)
	case z <= moderate && variance < exactBelow:
		return logExact(strata, observed, negligibleBeside)
	}
	return logExceed(strata)
}

// moments returns the count of conferences with the value in the set, and its mean and variance if the value has no
// relation to the set.
func moments(strata []stratum) (observed int, mean, variance float64) {
	for _, s := range strata {
		if s.N < 2 {
			observed += s.a
			mean += float64(s.a)
			continue
		}
		n, k, all := float64(s.n), float64(s.k), float64(s.N)
		observed += s.a
		mean += n * k / all
		variance += n * k * (all - n) * (all - k) / (all * all * (all - 1))
	}
	return observed, mean, variance
}

// logExact returns the logarithm of the upper tail of the convolution of the strata's hypergeometric distributions, without
// weights below cut.
func logExact(strata []stratum, observed int, cut float64) float64 {
	first, sum := 0, []float64{1}
	for _, s := range strata {
		from, weights := hypergeometric(s, cut)
		first += from
		if len(weights) > 1 {
			sum = convolve(sum, weights)
		}
	}
	tail := 0.0
	for i := len(sum) - 1; i >= max(0, observed-first); i-- {
		tail += sum[i]
	}
	return math.Log(min(tail, 1))
}

func convolve(a, b []float64) []float64 {
	if len(a) == 1 && a[0] == 1 {
		return b
	}
	out := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		into := out[i : i+len(b)]
		for j, q := range b {
			into[j] += p * q
		}
	}
	return out
}

// Weights, relative to the largest, at which a distribution is cut: far below every level of significance, and far
// below a tail that begins at moderate.
const (
	negligible       = 1e-60
	negligibleBeside = 1e-20
)

// hypergeometric returns the weights of the counts from, from+1, … in a sample of n out of N with k.
func hypergeometric(s stratum, cut float64) (from int, weights []float64) {
	low, high := max(0, s.n+s.k-s.N), min(s.n, s.k)
	if low == high {
		return low, []float64{1}
	}
	mode := min(high, max(low, (s.n+1)*(s.k+1)/(s.N+2)))
	weights = make([]float64, 0, 64)
	total := 1.0
	for x, w := mode, 1.0; x > low && w > cut; x-- {
		w /= ratio(s, x-1)
		weights = append(weights, w)
		total += w
	}
	from = mode - len(weights)
	slices.Reverse(weights)
	weights = append(weights, 1)
	for x, w := mode, 1.0; x < high && w > cut; x++ {
		w *= ratio(s, x)
		weights = append(weights, w)
		total += w
	}
	for i := range weights {
		weights[i] /= total
	}
	return from, weights
}

// ratio returns the weight of x+1 over that of x.
func ratio(s stratum, x int) float64 {
	return float64(s.n-x) * float64(s.k-x) / (float64(x+1) * float64(s.N-s.n-s.k+x+1))
}

// logUpperTail returns the logarithm of the upper tail of the standard normal distribution. Beyond 30
// it uses the first terms of the asymptotic series (Abramowitz and Stegun, 26.2.12).
func logUpperTail(z float64) float64 {
	if z < 30 {
		return math.Log(0.5 * math.Erfc(z/math.Sqrt2))
	}
	return -z*z/2 - math.Log(z*math.Sqrt(2*math.Pi)) + math.Log1p(-1/(z*z))
}
