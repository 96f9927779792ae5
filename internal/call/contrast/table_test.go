package contrast

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// tally counts items directly: those in the set and all, by stratum and by fact or pair of facts.
func tally(items []Item, counted func(i int) bool) (of map[[2]Fact]map[int][2]int32) {
	of = map[[2]Fact]map[int][2]int32{}
	for i, one := range items {
		if !counted(i) {
			continue
		}
		found := map[[2]Fact]bool{}
		for _, member := range one.Members {
			for _, a := range member {
				for _, b := range member {
					found[[2]Fact{a, b}] = true
				}
			}
		}
		for pair := range found {
			if of[pair] == nil {
				of[pair] = map[int][2]int32{}
			}
			n := of[pair][one.Stratum]
			n[1]++
			if one.InSet {
				n[0]++
			}
			of[pair][one.Stratum] = n
		}
	}
	return of
}

// tallied is the counts of one fact or pair in the same form, without strata that have none.
func tallied(t *Table, c *counts, k uint32) map[int][2]int32 {
	out := map[int][2]int32{}
	for s, class := range t.strata {
		at := (int(k)*c.strata + s) * 2
		if n := [2]int32{c.of[at], c.of[at+1]}; n != [2]int32{} {
			out[class] = n
		}
	}
	return out
}

// Counts from which the items of findings were subtracted are those of the other items.
func TestRemainingCounts(t *testing.T) {
	for seed := range testenv.Pick(uint64(4), 20) {
		random := rand.New(rand.NewPCG(seed, 2))
		items := draw(3000+seed, 300, func([][]Fact) float64 { return 0.3 })
		table := newTable(items)
		r := remaining{Table: table, counts: table.count(table.all(), nil)}
		r.facts = r.counts.frequent(2)
		r.posted = table.postings(r.counts)
		r.pairs = table.countPairs(r.facts)
		gone := map[int]bool{}
		for range 4 {
			combination := []uint32{r.facts[random.IntN(len(r.facts))]}
			want := []int32{}
			for i, one := range items {
				if any1(one.Members, table.facts[combination[0]]) {
					want = append(want, int32(i))
					gone[i] = true
				}
			}
			found := table.have(r.with(combination), combination)
			require.Equal(t, want, found)
			r.cover(found)
			of := tally(items, func(i int) bool { return !gone[i] })
			for _, f := range r.facts {
				same := [2]Fact{table.facts[f], table.facts[f]}
				require.Equal(t, sure(of[same]), tallied(table, r.counts, f))
			}
			for i, high := range r.pairs.facts {
				for j, low := range r.pairs.facts[:i] {
					require.Equal(t, sure(of[[2]Fact{table.facts[low], table.facts[high]}]), tallied(table, &r.pairs.counts, uint32(number(i, j))))
				}
			}
			require.Equal(t, len(items)-len(gone), r.counts.items(true)+r.counts.items(false))
			require.Equal(t, r.counts.total, r.pairs.total)
		}
	}
}

func sure(m map[int][2]int32) map[int][2]int32 {
	if m == nil {
		return map[int][2]int32{}
	}
	return maps.Clone(m)
}

// The items of two facts are those of which one member has both.
func TestHave(t *testing.T) {
	items := draw(5, 500, func([][]Fact) float64 { return 0.5 })
	table := newTable(items)
	r := remaining{Table: table}
	r.posted = table.postings(table.count(table.all(), nil))
	both := []Fact{{"site", "1"}, {"browser", "2"}}
	ids := []uint32{table.Fact(both[0]), table.Fact(both[1])}
	var want []int32
	for i, one := range items {
		if any1(one.Members, both...) {
			want = append(want, int32(i))
		}
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, table.have(r.with(ids), ids))
	slices.Reverse(ids)
	require.Equal(t, want, table.have(r.with(ids), ids))
}

// Only what passes needs an order: the adjusted p-values are those of all tests.
func TestAdjustOfThoseThatMayPass(t *testing.T) {
	for seed := range uint64(50) {
		items := draw(4000+seed, 400, func(m [][]Fact) float64 {
			if any1(m, Fact{"browser", "5"}) {
				return 0.5
			}
			return 0.2
		})
		table := newTable(items)
		c := table.count(table.all(), nil)
		o := Options{}.withDefaults()
		facts := c.frequent(o.MinCount)
		all := make([]test, 0, len(facts))
		for _, f := range facts {
			all = append(all, test{fact: f, logP: c.logP(f)})
		}
		slices.SortStableFunc(all, byStrength(c))
		want := all[:adjust(all, len(all), o.Level/2)]
		want = slices.DeleteFunc(slices.Clone(want), func(one test) bool { return c.inSet(one.fact) < o.MinCount })
		require.Equal(t, append([]test{}, want...), append([]test{}, c.significant(facts, o)...))
	}
}
