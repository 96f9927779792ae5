package contrast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// table2 is a table of two by two by its cells: with and without the value in the set, then in the baseline.
func table2(a, b, c, d int) stratum { return stratum{a: a, n: a + b, k: a + c, N: a + b + c + d} }

// Fisher's tea tasting (The Design of Experiments, 1935): 4 cups right of 4 have 1/70, 3 have 17/70.
func TestExactOneTable(t *testing.T) {
	for _, c := range []struct {
		table stratum
		want  float64
	}{
		{table2(4, 0, 0, 4), 1.0 / 70},
		{table2(3, 1, 1, 3), 17.0 / 70},
		{table2(0, 4, 4, 0), 1},
		{table2(10, 2, 3, 15), 0.0004651809}, // Fisher's twins (1935): 4.65e-4
	} {
		require.InEpsilon(t, c.want, math.Exp(logExceed([]stratum{c.table})), 1e-6)
	}
}

// Rabbits treated with penicillin at once or after 1.5 h, by dose (Mantel 1963; R's mantelhaen.test has
// the exact two-sided 0.03994, twice the one-sided). S = 16.
func TestExactStrata(t *testing.T) {
	strata := []stratum{table2(0, 6, 0, 5), table2(3, 3, 0, 6), table2(6, 0, 2, 4), table2(5, 1, 6, 0), table2(2, 0, 5, 0)}
	require.InEpsilon(t, 0.03994/2, math.Exp(logExceed(strata)), 2e-4)
}

// Admissions at Berkeley, 1973, by department: R's mantelhaen.test has X² = 1.4269 with continuity
// correction, two-sided 0.2323. Without departments the men seem to be preferred beyond doubt.
func TestStrataRemoveAConfounder(t *testing.T) {
	strata := []stratum{
		table2(89, 19, 512, 313), table2(17, 8, 353, 207), table2(202, 391, 120, 205),
		table2(131, 244, 138, 279), table2(94, 299, 53, 138), table2(24, 317, 22, 351),
	}
	require.InEpsilon(t, 0.2323/2, math.Exp(logExceed(strata)), 2e-3)
	whole := table2(1198, 1493, 557, 1278)
	require.Less(t, logExceed([]stratum{whole}), math.Log(1e-20))
}

// The exact computation and the approximation agree where one gives way to the other.
func TestApproximationMeetsExact(t *testing.T) {
	for _, observed := range []int{1000, 1015, 1030, 1050} {
		s := []stratum{{a: observed / 10, n: 1000, k: 1000, N: 10000}}
		exact := logExact(s, s[0].a, negligible)
		require.InDelta(t, exact, logUpperTail((float64(s[0].a)-0.5-100)/9.0), 0.05, observed)
	}
}

// Known values of the normal distribution, and the two computations of its tail where they meet.
func TestUpperTail(t *testing.T) {
	require.InEpsilon(t, 0.5, math.Exp(logUpperTail(0)), 1e-12)
	require.InEpsilon(t, 0.024997895, math.Exp(logUpperTail(1.96)), 1e-6)
	require.InEpsilon(t, 9.8658765e-10, math.Exp(logUpperTail(6)), 1e-6)
	require.InDelta(t, math.Log(0.5*math.Erfc(30/math.Sqrt2)), logUpperTail(30), 1e-5)
	require.False(t, math.IsInf(logUpperTail(1e4), 0))
}

// A table without freedom says nothing.
func TestExceedDegenerate(t *testing.T) {
	for _, s := range [][]stratum{nil, {{}}, {{a: 1, n: 1, k: 1, N: 1}}, {table2(5, 0, 7, 0)}, {table2(0, 5, 0, 7)}, {table2(3, 3, 0, 0)}} {
		require.Zero(t, logExceed(s))
	}
}

// A count that is not above hopeless has no exact p-value near a level that is in use, and its
// approximation has none either.
func TestHopelessCountsAreNoFindings(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	tested := 0
	for range 20_000 {
		var strata []stratum
		for range 1 + random.IntN(4) {
			s := stratum{N: 2 + random.IntN(1<<random.IntN(11))}
			s.n, s.k = random.IntN(s.N+1), random.IntN(s.N+1)
			low, high := max(0, s.n+s.k-s.N), min(s.n, s.k)
			s.a = low + random.IntN(high-low+1)
			strata = append(strata, s)
		}
		observed, mean, variance := moments(strata)
		if variance == 0 || (float64(observed)-mean)/math.Sqrt(variance) > hopeless {
			require.InDelta(t, logExceed(strata), logExceedIfStrong(strata), 1e-6, strata)
			continue
		}
		tested++
		require.Greater(t, math.Exp(logExceed(strata)), 0.06, strata)
		require.Greater(t, math.Exp(logExceedIfStrong(strata)), 0.06, strata)
	}
	require.Greater(t, tested, 5000)
}
