package contrast

import (
	"runtime"
	"sync"
)

// maxPaired bounds the facts whose pairs are tested, the most frequent first.
const maxPaired = 200

// maxCounting bounds the goroutines that count the pairs of one comparison.
const maxCounting = 4

// pairs counts the items with a member that has both facts of a pair. The facts of its counts are the numbers of pairs.
type pairs struct {
	counts

	facts []uint32 // the paired ones
	at    []int32  // index in facts by fact, from 1
	have  []int32  // indexes of one member
}

// countPairs counts the pairs of some facts, in all items.
func (t *Table) countPairs(facts []uint32) *pairs {
	facts = facts[:min(len(facts), maxPaired)]
	at := make([]int32, len(t.facts))
	for i, f := range facts {
		at[f] = int32(i) + 1
	}
	parts := make([]*pairs, min(maxCounting, runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for n := range parts {
		parts[n] = &pairs{facts: facts, at: at, counts: *newCounts(number(len(facts), 0), len(t.strata))}
		wg.Go(func() {
			for i := n * len(t.items) / len(parts); i < (n+1)*len(t.items)/len(parts); i++ {
				parts[n].add(t, int32(i), 1)
			}
		})
	}
	wg.Wait()
	for _, part := range parts[1:] {
		parts[0].merge(&part.counts)
	}
	return parts[0]
}

// number returns the number of the pair of facts[high] and facts[low].
func number(high, low int) int { return high*(high-1)/2 + low }

// add adds an item n times; -1 removes it.
func (p *pairs) add(t *Table, i, n int32) {
	of := &t.items[i]
	p.added++
	for m := of.from; m < of.to; m++ {
		have := p.have[:0]
		for _, f := range t.member(m) {
			if at := p.at[f]; at > 0 {
				have = append(have, at-1)
			}
		}
		for x, one := range have {
			for _, other := range have[:x] {
				k := number(int(max(one, other)), int(min(one, other)))
				if p.seen[k] != p.added {
					p.seen[k] = p.added
					put(p.of[(k*p.strata+of.stratum)*2:], of.inSet, n)
				}
			}
		}
		p.have = have
	}
	if of.from < of.to {
		put(p.total[of.stratum*2:], of.inSet, n)
	}
}

// tests returns the tests of the pairs that may pass, and the number of all tests. A pair that is as frequent as one of its
// facts is equivalent to that fact, and is not tested.
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
