package contrast

import (
	"math"
	"slices"
)

// combination is facts of the same member, and the evidence for them.
type combination struct {
	facts    []uint32
	logP     float64 // over the items that no finding covers
	adjusted float64 // p-value for the number of tests
}

// strongest returns the strongest combination over the items that no finding covers: one significant fact,
// narrowed, or a pair of facts that are not significant alone. It returns false if there is none.
func (t *table) strongest(c *counts, facts []uint32, significant []test, o Options) (combination, bool) {
	pair, found := t.strongestPair(c, facts, significant, o)
	if len(significant) == 0 {
		return pair, found
	}
	one := t.narrow(c, combination{facts: []uint32{significant[0].fact}, logP: significant[0].logP, adjusted: significant[0].adjusted}, facts, o)
	if found && pair.logP < one.logP {
		return pair, true
	}
	return one, true
}

// narrow adds further facts of the same member to a combination. A further fact must be over-represented
// among the items that have the combination so far, corrected for the number of facts tried (Bonferroni),
// and the longer combination must be stronger evidence than the shorter: two faults that are independent
// of each other are two findings.
func (t *table) narrow(c *counts, base combination, facts []uint32, o Options) combination {
	for len(base.facts) < o.MaxDepth {
		within := t.count(base.facts)
		best, tries, ok := within.best(facts)
		p := math.Exp(best.logP) * float64(tries)
		if !ok || p > o.Level || within.inSet(best.fact) < o.MinCount {
			break
		}
		longer := append(slices.Clone(base.facts), best.fact)
		strata, _, _ := t.strataOf(longer, c, false)
		logP := logExceed(strata)
		if logP >= base.logP {
			break
		}
		base = combination{facts: longer, logP: logP, adjusted: max(base.adjusted, p)}
	}
	return base
}

// best returns the strongest of the facts that some but not all items of c have, and the number of those.
func (c *counts) best(facts []uint32) (best test, tries int, ok bool) {
	all := c.items(true) + c.items(false)
	stronger := byStrength(c)
	for _, f := range facts {
		if n := c.all(f); n == 0 || n == all {
			continue
		}
		one := test{fact: f, logP: c.logP(f)}
		if tries++; !ok || stronger(one, best) < 0 {
			best, ok = one, true
		}
	}
	return best, tries, ok
}

// maxPaired bounds the facts whose pairs are tested, the most frequent first.
const maxPaired = 200

// strongestPair returns the strongest pair of facts of which neither is significant, if it passes the
// procedure of Benjamini and Hochberg over all pairs at half of the level. A pair that is as frequent as one
// of its facts is no other statement than that fact, and is not tested.
func (t *table) strongestPair(c *counts, facts []uint32, significant []test, o Options) (best combination, found bool) {
	facts = facts[:min(len(facts), maxPaired)]
	pairs := t.countPairs(c, facts)
	var tests []test
	for i := range facts {
		for j := range i {
			k := uint32(i*len(facts) + j)
			if n := pairs.all(k); n >= o.MinCount && n < c.all(facts[i]) && n < c.all(facts[j]) {
				tests = append(tests, test{fact: k, logP: pairs.logP(k)})
			}
		}
	}
	slices.SortStableFunc(tests, byStrength(pairs))
	for _, one := range tests[:adjust(tests, len(tests), o.Level/2)] {
		pair := []uint32{facts[int(one.fact)%len(facts)], facts[int(one.fact)/len(facts)]}
		alone := slices.ContainsFunc(significant, func(s test) bool { return slices.Contains(pair, s.fact) })
		if !alone && pairs.inSet(one.fact) >= o.MinCount {
			return t.narrow(c, combination{facts: pair, logP: one.logP, adjusted: one.adjusted}, facts, o), true
		}
	}
	return combination{}, false
}

// countPairs counts the items of which a member has both facts of a pair. The pair of facts[i] and facts[j],
// j < i, has the number i*len(facts)+j.
func (t *table) countPairs(c *counts, facts []uint32) *counts {
	at := make([]int32, len(t.facts)) // index in facts, from 1
	for i, f := range facts {
		at[f] = int32(i) + 1
	}
	pairs := &counts{strata: c.strata, of: make([]int32, len(facts)*len(facts)*c.strata*2), total: c.total}
	seen := make([]int32, len(facts)*len(facts)) // the last item that had a pair, from 1
	var present []int32
	for i := range t.items {
		one := &t.items[i]
		if one.covered {
			continue
		}
		for _, member := range t.members[one.from:one.to] {
			present = present[:0]
			for _, f := range member {
				if at[f] > 0 {
					present = append(present, at[f]-1)
				}
			}
			slices.Sort(present)
			for x, high := range present {
				for _, low := range present[:x] {
					k := int(high)*len(facts) + int(low)
					if seen[k] != int32(i)+1 {
						seen[k] = int32(i) + 1
						pairs.add(pairs.of[k*c.strata*2:], one)
					}
				}
			}
		}
	}
	return pairs
}

// strataOf counts the items of which a member has a combination: by stratum, in the set and in the
// baseline. Those that earlier findings cover are included on request; c has the totals.
func (t *table) strataOf(facts []uint32, c *counts, covered bool) (strata []stratum, inSet, inBaseline int) {
	strata = make([]stratum, c.strata)
	for s := range strata {
		strata[s].n, strata[s].N = int(c.total[s*2]), int(c.total[s*2+1])
	}
	for i := range t.items {
		one := &t.items[i]
		if one.covered && !covered || !slices.ContainsFunc(t.members[one.from:one.to], func(member []uint32) bool { return has(member, facts) }) {
			continue
		}
		strata[one.stratum].k++
		if one.inSet {
			strata[one.stratum].a++
			inSet++
		} else {
			inBaseline++
		}
	}
	return strata, inSet, inBaseline
}

// finding describes a combination over all items, also those of earlier findings; all counts them.
func (t *table) finding(found combination, all *counts) Finding {
	strata, inSet, inBaseline := t.strataOf(found.facts, all, true)
	f := Finding{InSet: inSet, InBaseline: inBaseline, Adjusted: found.adjusted, P: math.Exp(logExceed(strata)), Companions: []Fact{}}
	for _, fact := range found.facts {
		f.Facts = append(f.Facts, t.facts[fact])
	}
	f.Lift, f.LiftLow, f.LiftHigh = lift(inSet, all.items(true), inBaseline, all.items(false))
	return f
}
