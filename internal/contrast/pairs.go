package contrast

import "slices"

// maxPaired bounds the facts whose pairs are tested, the most frequent first.
const maxPaired = 200

// pairs counts the items of which a member has both facts of a pair. Its facts are the pairs' numbers.
type pairs struct {
	counts
	facts []uint32 // that are paired
	at    []int32  // index in facts by fact, from 1
	have  []int32  // indexes of one member
}

// countPairs counts the pairs of some facts, in all items.
func (t *Table) countPairs(facts []uint32) *pairs {
	p := &pairs{facts: facts[:min(len(facts), maxPaired)], at: make([]int32, len(t.facts))}
	for i, f := range p.facts {
		p.at[f] = int32(i) + 1
	}
	n := len(p.facts)
	p.counts = *newCounts(n*(n-1)/2, len(t.strata))
	for i := range t.items {
		p.add(t, int32(i), 1)
	}
	return p
}

// number is the number of the pair of facts[high] and facts[low].
func number(high, low int) int { return high*(high-1)/2 + low }

// add adds an item n times; -1 removes it.
func (p *pairs) add(t *Table, i, n int32) {
	one := &t.items[i]
	p.added++
	for m := one.from; m < one.to; m++ {
		have := p.have[:0]
		for _, f := range t.member(m) {
			if at := p.at[f]; at > 0 {
				have = append(have, at-1)
			}
		}
		slices.Sort(have)
		for x, high := range have {
			row := number(int(high), 0)
			for _, low := range have[:x] {
				k := row + int(low)
				if p.seen[k] != p.added {
					p.seen[k] = p.added
					put(p.of[(k*p.strata+one.stratum)*2:], one.inSet, n)
				}
			}
		}
		p.have = have
	}
	if one.from < one.to {
		put(p.total[one.stratum*2:], one.inSet, n)
	}
}

// tests returns the tests of the pairs that may pass, and how many were made: a pair that is as frequent as one of its
// facts is no other statement than that fact, and is not tested.
func (p *pairs) tests(c *counts, o Options) (tests []test, pair map[uint32][2]uint32, made int) {
	pair = map[uint32][2]uint32{}
	frequency := make([]int, len(p.facts))
	for i, f := range p.facts {
		frequency[i] = c.all(f)
	}
	for i, high := range p.facts {
		for j, low := range p.facts[:i] {
			k := uint32(number(i, j))
			if n := p.all(k); n < o.MinCount || n >= frequency[i] || n >= frequency[j] {
				continue
			}
			made++
			if one := (test{fact: k, logP: p.logP(k)}); one.mayPass(o) {
				tests = append(tests, one)
				pair[k] = [2]uint32{low, high}
			}
		}
	}
	return tests, pair, made
}
