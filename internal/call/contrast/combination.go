package contrast

import (
	"math"
	"slices"
)

// combination holds facts of the same member, with the evidence for them.
type combination struct {
	facts    []uint32
	items    []int32 // those with a member that has all facts, also those that findings cover
	logP     float64 // over the items that no finding covers
	adjusted float64 // p-value for the number of tests
}

// strongest returns the strongest combination over the items that no finding covers: one significant fact,
// narrowed, or a pair of facts that are not significant alone. It returns false if there is none.
func (r *remaining) strongest(significant []test) (combination, bool) {
	pair, found := r.strongestPair(significant)
	if len(significant) == 0 {
		return pair, found
	}
	one := r.narrow(combination{facts: []uint32{significant[0].fact}, logP: significant[0].logP, adjusted: significant[0].adjusted})
	if found && pair.logP < one.logP {
		return pair, true
	}
	return one, true
}

// narrow adds further facts of the same member to a combination. A further fact must be over-represented
// among the items that have the combination so far, corrected for the number of facts tried (Bonferroni),
// and the longer combination must be stronger evidence than the shorter: two faults that are independent
// of each other are two findings.
func (r *remaining) narrow(base combination) combination {
	base.items = r.have(r.with(base.facts), base.facts)
	for len(base.facts) < r.options.MaxDepth {
		within := r.count(base.items, base.facts)
		best, tries, ok := within.best(r.facts)
		p := math.Exp(best.logP) * float64(tries)
		if !ok || p > r.options.Level || within.inSet(best.fact) < r.options.MinCount {
			break
		}
		longer := append(slices.Clone(base.facts), best.fact)
		items := r.have(base.items, longer)
		strata, _, _ := r.strataOf(items, r.counts, false)
		logP := logExceed(strata)
		if logP >= base.logP {
			break
		}
		base = combination{facts: longer, items: items, logP: logP, adjusted: max(base.adjusted, p)}
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

// strongestPair returns the strongest pair of facts of which neither is significant, if it passes the
// procedure of Benjamini and Hochberg over all pairs at half of the level.
func (r *remaining) strongestPair(significant []test) (best combination, found bool) {
	tests, pairs, made := r.pairs.tests(r.counts, r.options)
	slices.SortStableFunc(tests, byStrength(&r.pairs.counts))
	for _, one := range tests[:adjust(tests, made, r.options.Level/2)] {
		pair := pairs[one.fact]
		alone := slices.ContainsFunc(significant, func(s test) bool { return slices.Contains(pair[:], s.fact) })
		if !alone && r.pairs.inSet(one.fact) >= r.options.MinCount {
			return r.narrow(combination{facts: pair[:], logP: one.logP, adjusted: one.adjusted}), true
		}
	}
	return combination{}, false
}

// strataOf counts items by stratum, in the set and in the baseline. Those that earlier findings cover are included on
// request; c has the totals.
func (t *Table) strataOf(items []int32, c *counts, covered bool) (strata []stratum, inSet, inBaseline int) {
	strata = make([]stratum, c.strata)
	for s := range strata {
		strata[s].n, strata[s].N = int(c.total[s*2]), int(c.total[s*2+1])
	}
	for _, i := range items {
		one := &t.items[i]
		if one.covered && !covered {
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

// finding describes a combination over all items, also those of earlier findings; all has their totals.
func (t *Table) finding(found combination, all *counts) Finding {
	strata, inSet, inBaseline := t.strataOf(found.items, all, true)
	f := Finding{InSet: inSet, InBaseline: inBaseline, Adjusted: found.adjusted, P: math.Exp(logExceed(strata)), Companions: []Fact{}}
	for _, fact := range found.facts {
		f.Facts = append(f.Facts, t.facts[fact])
	}
	f.Lift, f.LiftLow, f.LiftHigh = lift(inSet, all.items(true), inBaseline, all.items(false))
	return f
}
