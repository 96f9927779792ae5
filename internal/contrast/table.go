package contrast

import (
	"cmp"
	"slices"
)

// table is the items with facts as numbers.
type table struct {
	facts   []Fact
	items   []item
	strata  int
	members [][]uint32 // sorted facts, by item
}

type item struct {
	from, to int // members
	stratum  int
	inSet    bool
	covered  bool // by a finding
}

func newTable(items []Item) *table {
	t := &table{}
	ids, strata := map[Fact]uint32{}, map[int]int{}
	for _, one := range items {
		from := len(t.members)
		for _, facts := range one.Members {
			t.members = append(t.members, t.intern(ids, facts))
		}
		number, ok := strata[one.Stratum]
		if !ok {
			number = len(strata)
			strata[one.Stratum] = number
		}
		t.items = append(t.items, item{from: from, to: len(t.members), stratum: number, inSet: one.InSet})
	}
	t.strata = len(strata)
	return t
}

// intern returns the numbers of facts, sorted, each once.
func (t *table) intern(ids map[Fact]uint32, facts []Fact) []uint32 {
	out := make([]uint32, 0, len(facts))
	for _, f := range facts {
		id, ok := ids[f]
		if !ok {
			id = uint32(len(t.facts))
			ids[f] = id
			t.facts = append(t.facts, f)
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// has reports whether a member has all facts of a combination.
func has(member, combination []uint32) bool {
	for _, f := range combination {
		if _, ok := slices.BinarySearch(member, f); !ok {
			return false
		}
	}
	return true
}

// cover marks the items of which a member has a combination.
func (t *table) cover(combination []uint32) {
	for i := range t.items {
		one := &t.items[i]
		for _, member := range t.members[one.from:one.to] {
			one.covered = one.covered || has(member, combination)
		}
	}
}

// counts is how many items have each fact, by stratum, in the set and in all.
type counts struct {
	strata int
	of     []int32 // (fact*strata+stratum)*2: in the set; +1: all
	total  []int32 // the same for all items
}

// count counts the facts of members that have all facts of a combination, in items that no finding
// covers. The items of the universe are those that have such a member.
func (t *table) count(within []uint32) *counts {
	c := &counts{strata: t.strata, of: make([]int32, len(t.facts)*t.strata*2), total: make([]int32, t.strata*2)}
	seen := make([]int32, len(t.facts)) // the last item that had a fact, from 1
	for i := range t.items {
		one := &t.items[i]
		if one.covered {
			continue
		}
		found := false
		for _, member := range t.members[one.from:one.to] {
			if !has(member, within) {
				continue
			}
			found = true
			for _, f := range member {
				if seen[f] != int32(i)+1 {
					seen[f] = int32(i) + 1
					c.add(c.of[int(f)*c.strata*2:], one)
				}
			}
		}
		if found {
			c.add(c.total, one)
		}
	}
	return c
}

func (c *counts) add(into []int32, one *item) {
	if one.inSet {
		into[one.stratum*2]++
	}
	into[one.stratum*2+1]++
}

// items is the number of items in the set, or in the baseline.
func (c *counts) items(inSet bool) (n int) {
	for s := range c.strata {
		if inSet {
			n += int(c.total[s*2])
		} else {
			n += int(c.total[s*2+1] - c.total[s*2])
		}
	}
	return n
}

func (c *counts) inSet(fact uint32) (n int) {
	for s := range c.strata {
		n += int(c.of[(int(fact)*c.strata+s)*2])
	}
	return n
}

func (c *counts) all(fact uint32) (n int) {
	for s := range c.strata {
		n += int(c.of[(int(fact)*c.strata+s)*2+1])
	}
	return n
}

// logP is the logarithm of a fact's one-sided p-value.
func (c *counts) logP(fact uint32) float64 {
	strata := make([]stratum, c.strata)
	for s := range c.strata {
		at := (int(fact)*c.strata + s) * 2
		strata[s] = stratum{a: int(c.of[at]), n: int(c.total[s*2]), k: int(c.of[at+1]), N: int(c.total[s*2+1])}
	}
	return logExceedIfStrong(strata)
}

// frequent returns the facts of at least so many items that not all have, the most frequent first. It does
// not depend on the set, so the choice does not bias the tests.
func (c *counts) frequent(minCount int) (out []uint32) {
	all := c.items(true) + c.items(false)
	for f := range len(c.of) / max(1, c.strata*2) {
		if n := c.all(uint32(f)); n >= minCount && n < all {
			out = append(out, uint32(f))
		}
	}
	slices.SortStableFunc(out, func(a, b uint32) int { return cmp.Compare(c.all(b), c.all(a)) })
	return out
}
