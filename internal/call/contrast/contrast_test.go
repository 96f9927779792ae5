package contrast

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// draw returns items of one to eight participants with random attributes. fails has the probability that
// a conference of these participants is in the set.
func draw(seed uint64, n int, fails func(members [][]Fact) float64) []Item {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(attribute string, values int) Fact {
		return Fact{attribute, strconv.Itoa(min(random.IntN(values), random.IntN(values)))}
	}
	items := make([]Item, n)
	for i := range items {
		size := 1 + random.IntN(8)
		app := pick("app", 3)
		for range size {
			site := pick("site", 6)
			items[i].Members = append(items[i].Members, []Fact{
				app, site, pick("browser", 8), pick("network", 4), pick("device", 40),
				{"prefix", site.Value + "." + strconv.Itoa(random.IntN(20))},
				{"version", app.Value + "." + strconv.Itoa(random.IntN(3))},
			})
		}
		items[i].Stratum = size
		items[i].InSet = random.Float64() < fails(items[i].Members)
	}
	return items
}

func any1(members [][]Fact, facts ...Fact) bool {
	for _, m := range members {
		n := 0
		for _, f := range m {
			for _, want := range facts {
				if f == want {
					n++
				}
			}
		}
		if n == len(facts) {
			return true
		}
	}
	return false
}

func names(r Result) (out []string) {
	for i := range r.Findings {
		out = append(out, r.Findings[i].String())
	}
	return out
}

func TestFindsOneValueWithItsFigures(t *testing.T) {
	items := draw(7, 4000, func(m [][]Fact) float64 {
		if any1(m, Fact{"browser", "5"}) {
			return 0.3
		}
		return 0.05
	})
	r := Compare(items, Options{})
	require.Equal(t, []string{"browser 5"}, names(r))
	var with, without, set int
	for _, one := range items {
		has := any1(one.Members, Fact{"browser", "5"})
		switch {
		case one.InSet && has:
			with++
			set++
		case one.InSet:
			set++
		case has:
			without++
		}
	}
	f := r.Findings[0]
	require.Equal(t, []int{set, 4000 - set, with, without}, []int{r.Set, r.Baseline, f.InSet, f.InBaseline})
	require.InEpsilon(t, (float64(with)/float64(set))/(float64(without)/float64(4000-set)), f.Lift, 1e-12)
	require.Less(t, f.LiftLow, f.Lift)
	require.Greater(t, f.LiftHigh, f.Lift)
	require.Less(t, f.Adjusted, 1e-6)
	require.GreaterOrEqual(t, f.Adjusted, f.P)
}

// A fault that needs two attributes of the same participant is found as both, not as either.
func TestFindsACombination(t *testing.T) {
	bad := []Fact{{"browser", "1"}, {"site", "2"}}
	r := Compare(draw(8, 8000, func(m [][]Fact) float64 {
		if any1(m, bad...) {
			return 0.35
		}
		return 0.06
	}), Options{})
	require.NotEmpty(t, r.Findings)
	require.ElementsMatch(t, bad, r.Findings[0].Facts)
	require.Len(t, r.Findings, 1, "%v", names(r))
}

// Faults that do not depend on each other are findings of their own.
func TestFindsIndependentFaults(t *testing.T) {
	r := Compare(draw(9, 8000, func(m [][]Fact) float64 {
		p := 0.04
		if any1(m, Fact{"browser", "5"}) {
			p += 0.2
		}
		if any1(m, Fact{"site", "4"}) {
			p += 0.2
		}
		return p
	}), Options{})
	require.ElementsMatch(t, []string{"browser 5", "site 4"}, names(r))
}

// An address prefix that exists at one site only is frequent with the site, not beside it.
func TestListsCompanions(t *testing.T) {
	items := draw(10, 6000, func(m [][]Fact) float64 {
		if any1(m, Fact{"site", "4"}) {
			return 0.3
		}
		return 0.05
	})
	for i := range items {
		for j, member := range items[i].Members {
			for _, f := range member {
				if f == (Fact{"site", "4"}) && (i+j)%3 > 0 {
					items[i].Members[j] = append(items[i].Members[j], Fact{"relay", "of site 4"})
				}
			}
		}
	}
	r := Compare(items, Options{})
	require.Equal(t, []string{"site 4"}, names(r))
	require.Contains(t, r.Findings[0].Companions, Fact{"relay", "of site 4"})
}

// Larger conferences fail more often, and have each value more often: size alone is no finding.
func TestSizeIsNoFinding(t *testing.T) {
	r := Compare(draw(11, 6000, func(m [][]Fact) float64 { return 0.02 * float64(len(m)*len(m)) / 2 }), Options{})
	require.Empty(t, r.Findings, "%v", names(r))
	require.Greater(t, r.Tested, 100)

	unstratified := draw(11, 6000, func(m [][]Fact) float64 { return 0.02 * float64(len(m)*len(m)) / 2 })
	for i := range unstratified {
		unstratified[i].Stratum = 0
	}
	require.NotEmpty(t, Compare(unstratified, Options{}).Findings, "the test can fail")
}

// Where nothing differs, at most 5 % of the comparisons have any finding: 10 of 200 are expected at most,
// and more than 19 have a probability below 0.5 %. The seeds are fixed.
func TestNoiseHasNoFindings(t *testing.T) {
	wrong := 0
	for seed := range uint64(200) {
		r := Compare(draw(1000+seed, 300, func([][]Fact) float64 { return 0.2 }), Options{})
		if len(r.Findings) > 0 {
			wrong++
		}
	}
	t.Logf("%d of 200 comparisons of noise have a finding", wrong)
	require.LessOrEqual(t, wrong, 19)
}

// A fault of one value is not narrowed by chance to a second value, which nearly all participants have.
func TestNoiseRefinesNothing(t *testing.T) {
	found, narrowed := 0, 0
	for seed := range uint64(60) {
		items := draw(2000+seed, 400, func(m [][]Fact) float64 {
			if any1(m, Fact{"browser", "5"}) {
				return 0.35
			}
			return 0.1
		})
		for i := range items {
			for j := range items[i].Members {
				kept := slices.DeleteFunc(items[i].Members[j], func(f Fact) bool { return f.Attribute != "browser" })
				if (uint64(7*i+3*j)+seed)%16 > 0 {
					kept = append(kept, Fact{"usage", "multiplex"})
				}
				items[i].Members[j] = kept
			}
		}
		r := Compare(items, Options{})
		for _, f := range r.Findings {
			found++
			if len(f.Facts) > 1 {
				narrowed++
			}
		}
	}
	t.Logf("%d of %d findings are narrowed", narrowed, found)
	require.Greater(t, found, 30)
	require.LessOrEqual(t, float64(narrowed), 0.05*float64(found))
}

func TestCompareLittle(t *testing.T) {
	require.Equal(t, Result{Findings: []Finding{}}, Compare(nil, Options{}))
	r := Compare([]Item{{InSet: true, Members: [][]Fact{{{"a", "b"}}}}, {Members: [][]Fact{nil}}, {}}, Options{})
	require.Equal(t, Result{Set: 1, Baseline: 1, Findings: []Finding{}}, r)
	everything := draw(14, 200, func([][]Fact) float64 { return 1 })
	r = Compare(everything, Options{})
	require.Equal(t, []int{200, 0}, []int{r.Set, r.Baseline})
	require.Empty(t, r.Findings, "without a baseline nothing is over-represented")
}

func TestCompareIsBounded(t *testing.T) {
	items := draw(12, 2000, func([][]Fact) float64 { return 0.5 })
	r := Compare(items, Options{MaxFacts: 10})
	require.Equal(t, 10, r.Tested)
	require.Positive(t, r.Dropped)
}

func TestLift(t *testing.T) {
	ratio, low, high := lift(20, 100, 10, 200)
	require.InEpsilon(t, 4.0, ratio, 1e-12)
	// log RR 1.3863, SE sqrt(1/20-1/100+1/10-1/200) = 0.36742
	require.InEpsilon(t, 1.9468, low, 1e-3)
	require.InEpsilon(t, 8.2184, high, 1e-3)
	ratio, low, _ = lift(9, 100, 0, 200)
	require.InEpsilon(t, (9.5/100.5)/(0.5/200.5), ratio, 1e-12)
	require.Greater(t, low, 1.0)
}

func BenchmarkCompare(b *testing.B) {
	items := draw(13, 20_000, func(m [][]Fact) float64 {
		if any1(m, Fact{"browser", "1"}, Fact{"site", "2"}) {
			return 0.3
		}
		return 0.05
	})
	b.ReportAllocs()
	for b.Loop() {
		Compare(items, Options{})
	}
}
