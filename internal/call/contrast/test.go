package contrast

import (
	"cmp"
	"math"
	"slices"
)

// test is the test of one fact.
type test struct {
	fact     uint32
	logP     float64
	adjusted float64 // p-value for the number of tests
}

// byStrength orders by p-value, then by the count in the set, then by the number of the fact.
func byStrength(c *counts) func(a, b test) int {
	return func(a, b test) int {
		return cmp.Or(cmp.Compare(a.logP, b.logP), cmp.Compare(c.inSet(b.fact), c.inSet(a.fact)), cmp.Compare(a.fact, b.fact))
	}
}

// mayPass reports whether a test can pass the procedure of Benjamini and Hochberg at half of the level. The others need no
// order: they change no adjusted p-value of one that passes.
func (t test) mayPass(o Options) bool { return t.logP <= math.Log(o.Level/2) }

// significant returns the facts that pass the procedure of Benjamini and Hochberg at half of the level, the
// strongest first.
func (c *counts) significant(facts []uint32, o Options) []test {
	var tests []test
	for _, f := range facts {
		if one := (test{fact: f, logP: c.logP(f)}); one.mayPass(o) {
			tests = append(tests, one)
		}
	}
	slices.SortStableFunc(tests, byStrength(c))
	tests = tests[:adjust(tests, len(facts), o.Level/2)]
	return slices.DeleteFunc(tests, func(one test) bool { return c.inSet(one.fact) < o.MinCount })
}

// adjust sets the adjusted p-values of tests that are sorted by strength, of m tests that were made, and
// returns the number of those that pass at a level.
func adjust(tests []test, m int, level float64) (passed int) {
	adjusted := 1.0
	for i := len(tests) - 1; i >= 0; i-- {
		adjusted = min(adjusted, math.Exp(tests[i].logP)*float64(m)/float64(i+1))
		tests[i].adjusted = adjusted
		if passed == 0 && adjusted <= level {
			passed = i + 1
		}
	}
	return passed
}
