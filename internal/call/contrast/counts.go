package contrast

import (
	"cmp"
	"slices"
)

// counts holds the number of items with each fact, by stratum, in the set and in all.
type counts struct {
	strata int
	of     []int32 // (fact*strata+stratum)*2: in the set; +1: all
	total  []int32 // the same for all items
	seen   []int32 // the last addition that had a fact, from 1
	added  int32   // additions so far
}

func newCounts(facts, strata int) *counts {
	return &counts{strata: strata, of: make([]int32, facts*strata*2), total: make([]int32, strata*2), seen: make([]int32, facts)}
}

// count counts the facts of members that have all facts of a combination, in those of some items that no finding
// covers. The items of the universe are those that have such a member.
func (t *Table) count(among []int32, within []uint32) *counts {
	c := newCounts(len(t.facts), len(t.strata))
	for _, i := range among {
		if !t.items[i].covered {
			c.add(t, i, within, 1)
		}
	}
	return c
}

// add adds an item n times; -1 removes it.
func (c *counts) add(t *Table, i int32, within []uint32, n int32) {
	one := &t.items[i]
	c.added++
	found := false
	for m := one.from; m < one.to; m++ {
		member := t.member(m)
		if !has(member, within) {
			continue
		}
		found = true
		for _, f := range member {
			if c.seen[f] != c.added {
				c.seen[f] = c.added
				put(c.of[(int(f)*c.strata+one.stratum)*2:], one.inSet, n)
			}
		}
	}
	if found {
		put(c.total[one.stratum*2:], one.inSet, n)
	}
}

// merge adds the counts of other items.
func (c *counts) merge(o *counts) {
	for i, n := range o.of {
		c.of[i] += n
	}
	for i, n := range o.total {
		c.total[i] += n
	}
}

func put(into []int32, inSet bool, n int32) {
	if inSet {
		into[0] += n
	}
	into[1] += n
}

// items returns the number of items in the set, or in the baseline.
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

// logP returns the logarithm of a fact's one-sided p-value.
func (c *counts) logP(fact uint32) float64 {
	strata := make([]stratum, 0, 16)
	for s := range c.strata {
		at := (int(fact)*c.strata + s) * 2
		strata = append(strata, stratum{a: int(c.of[at]), n: int(c.total[s*2]), k: int(c.of[at+1]), N: int(c.total[s*2+1])})
	}
	return logExceedIfStrong(strata)
}

// frequent returns the facts of at least minCount items, except those of all items, the most frequent first.
// It does not depend on the set, so the choice does not bias the tests.
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
