package contrast

import (
	"math"
	"slices"
)

// stratum is a table of two by two: how many of n conferences in the set, and of all N, have a value.
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
		return logExact(strata, observed)
	}
	return logUpperTail((float64(observed) - 0.5 - mean) / math.Sqrt(variance))
}

// hopeless is the number of standard deviations above its mean up to which a count is no finding at any level
// that is in use.
const hopeless = 1

// logExceedIfStrong is logExceed for a count above hopeless. For the others, nearly all of those that are tested, it
// returns the normal approximation without continuity correction, which costs a hundredth.
func logExceedIfStrong(strata []stratum) float64 {
	observed, mean, variance := moments(strata)
	if z := (float64(observed) - mean) / math.Sqrt(variance); z <= hopeless {
		return logUpperTail(z)
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

// logExact sums the upper tail of the convolution of the strata's hypergeometric distributions.
func logExact(strata []stratum, observed int) float64 {
	first, sum := 0, []float64{1}
	for _, s := range strata {
		from, weights := hypergeometric(s)
		next := make([]float64, len(sum)+len(weights)-1)
		for i, p := range sum {
			for j, q := range weights {
				next[i+j] += p * q
			}
		}
		first, sum = first+from, next
	}
	tail := 0.0
	for i := len(sum) - 1; i >= max(0, observed-first); i-- {
		tail += sum[i]
	}
	return math.Log(min(tail, 1))
}

// negligible is the weight, relative to the largest, at which a distribution is cut: far below every
// level of significance.
const negligible = 1e-60

// hypergeometric returns the weights of the counts from, from+1, … in a sample of n out of N with k.
func hypergeometric(s stratum) (from int, weights []float64) {
	low, high := max(0, s.n+s.k-s.N), min(s.n, s.k)
	mode := min(high, max(low, (s.n+1)*(s.k+1)/(s.N+2)))
	up := []float64{1}
	for x := mode; x < high && up[len(up)-1] > negligible; x++ {
		up = append(up, up[len(up)-1]*ratio(s, x))
	}
	var down []float64
	for x, w := mode, 1.0; x > low && w > negligible; x-- {
		w /= ratio(s, x-1)
		down = append(down, w)
	}
	from = mode - len(down)
	slices.Reverse(down)
	weights = slices.Concat(down, up)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for i := range weights {
		weights[i] /= total
	}
	return from, weights
}

// ratio is the weight of x+1 over that of x.
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
