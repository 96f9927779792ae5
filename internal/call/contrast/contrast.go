// Package contrast compares a set of conferences with a baseline and returns the values of attributes that
// are over-represented in the set: "failed conferences: Firefox 144 at site berlin, 6.2 times as frequent".
//
// The unit of every count is the conference, not the participant: participants of one conference share its
// faults and are no independent observations. Conferences of different size are compared within strata of
// equal size only (Cochran-Mantel-Haenszel, exact for small counts), because a larger conference has more of
// every value and also fails more often.
//
// Many values are compared at once. A value is a finding if its p-value passes the procedure of Benjamini and
// Hochberg (1995) over all values that were tested, at half of Options.Level. The other half is for pairs of
// values of the same participant of which neither is a finding alone. If set and baseline do not differ, the
// probability of any finding is at most Options.Level. The strongest finding is narrowed by further attributes
// of the same participant as long as that is significant. Then its conferences are removed, and the remaining
// conferences are compared again: a value that was over-represented only together with a finding is listed as
// its companion.
package contrast

import (
	"math"
	"slices"
	"strings"
)

// Fact is the value of an attribute of a participant or of its conference.
type Fact struct {
	Attribute string `json:"attribute"` // name of the attribute, such as browserVersion
	Value     string `json:"value"`     // value of the attribute, such as firefox 144
}

// Item is one conference.
type Item struct {
	InSet   bool     // in the set, else in the baseline
	Stratum int      // class of its size; conferences of different strata are not compared
	Members [][]Fact // facts of each participant; facts of the conference are in each
}

// Options of a comparison. The zero value has the defaults.
type Options struct {
	Level       float64 // probability of any finding where nothing differs; 0: 0.05
	MinCount    int     // conferences with a value, and of the set with a finding; 0: 5
	MaxFindings int     // 0: 10
	MaxFacts    int     // number of tested values, the most frequent first; 0: 2000
	MaxDepth    int     // attributes of one finding; 0: 3
}

// Finding is a combination of facts that is over-represented in the set. Counts are conferences in which
// one participant has all of the facts. Earlier findings' conferences are included.
type Finding struct {
	Facts      []Fact  `json:"facts"`      // the first is the strongest alone
	InSet      int     `json:"inSet"`      // conferences of the set with the facts
	InBaseline int     `json:"inBaseline"` // conferences of the baseline with the facts
	Lift       float64 `json:"lift"`       // share in the set over share in the baseline, half a conference added to each count if one is 0
	LiftLow    float64 `json:"liftLow"`    // lower end of the 95 % confidence interval (Katz)
	LiftHigh   float64 `json:"liftHigh"`   // upper end of the 95 % confidence interval (Katz)
	P          float64 `json:"p"`          // p-value, one-sided, of this combination alone
	Adjusted   float64 `json:"adjusted"`   // p-value adjusted for the number of values tested
	Companions []Fact  `json:"companions"` // facts that are over-represented together with the finding only
}

// Result is the result of a comparison.
type Result struct {
	Set      int       `json:"set"`      // conferences
	Baseline int       `json:"baseline"` // conferences
	Tested   int       `json:"tested"`   // values
	Dropped  int       `json:"dropped"`  // values beyond MaxFacts
	Findings []Finding `json:"findings"` // strongest first
}

// maxCompanions bounds the companions of a finding.
const maxCompanions = 5

// Compare compares the items in the set with the others.
func Compare(items []Item, o Options) Result { return newTable(items).Compare(o) }

// remaining holds the counts over the items that no finding covers. A finding's items are subtracted, so a comparison reads
// all items once, and those of a finding again.
type remaining struct {
	*Table

	options Options
	facts   []uint32 // the tested ones
	posted  postings
	counts  *counts
	pairs   *pairs
}

// with returns the items with the rarest of some facts.
func (r *remaining) with(facts []uint32) []int32 {
	best := r.posted.of(facts[0])
	for _, f := range facts[1:] {
		if items := r.posted.of(f); len(items) < len(best) {
			best = items
		}
	}
	return best
}

// cover removes the items of a finding.
func (r *remaining) cover(items []int32) {
	for _, i := range r.Table.cover(items) {
		r.counts.add(r.Table, i, nil, -1)
		r.pairs.add(r.Table, i, -1)
	}
}

// Compare compares the conferences in the set with the others. Its work is proportional to the pairs of facts of all
// members. A table is compared once.
func (t *Table) Compare(o Options) Result {
	o = o.withDefaults()
	r := remaining{Table: t, options: o, counts: t.count(t.all(), nil)}
	all := &counts{strata: r.counts.strata, total: slices.Clone(r.counts.total)}
	result := Result{Set: all.items(true), Baseline: all.items(false), Findings: []Finding{}}
	r.facts = r.counts.frequent(o.MinCount)
	if len(r.facts) > o.MaxFacts {
		result.Dropped = len(r.facts) - o.MaxFacts
		r.facts = r.facts[:o.MaxFacts]
	}
	result.Tested = len(r.facts)
	r.posted = t.postings(r.counts)
	r.pairs = t.countPairs(r.facts)
	for len(result.Findings) <= o.MaxFindings {
		significant := r.counts.significant(r.facts, o)
		if n := len(result.Findings); n > 0 {
			result.Findings[n-1].keepCompanions(t, significant)
		}
		if len(result.Findings) == o.MaxFindings {
			break
		}
		best, ok := r.strongest(significant)
		if !ok {
			break
		}
		f := t.finding(best, all)
		for _, one := range significant {
			f.Companions = append(f.Companions, t.facts[one.fact])
		}
		r.cover(best.items)
		result.Findings = append(result.Findings, f)
	}
	return result
}

// keepCompanions removes the facts that are a part of the finding, or significant without it.
func (f *Finding) keepCompanions(t *Table, significant []test) {
	f.Companions = slices.DeleteFunc(f.Companions, func(one Fact) bool {
		return slices.Contains(f.Facts, one) || slices.ContainsFunc(significant, func(s test) bool { return t.facts[s.fact] == one })
	})
	f.Companions = f.Companions[:min(len(f.Companions), maxCompanions)]
}

func (o Options) withDefaults() Options {
	if o.Level == 0 {
		o.Level = 0.05
	}
	if o.MinCount == 0 {
		o.MinCount = 5
	}
	if o.MaxFindings == 0 {
		o.MaxFindings = 10
	}
	if o.MaxFacts == 0 {
		o.MaxFacts = 2000
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = 3
	}
	return o
}

// String returns the facts as "browser firefox 144, site berlin".
func (f *Finding) String() string {
	parts := make([]string, len(f.Facts))
	for i, one := range f.Facts {
		parts[i] = one.Attribute + " " + one.Value
	}
	return strings.Join(parts, ", ")
}

// lift returns the ratio of two shares and its 95 % confidence interval (Katz et al., 1978). Half a
// conference is added to each count if one is 0.
func lift(inSet, set, inBaseline, baseline int) (ratio, low, high float64) {
	a, n, c, m := float64(inSet), float64(set), float64(inBaseline), float64(baseline)
	if a == 0 || c == 0 {
		a, n, c, m = a+0.5, n+0.5, c+0.5, m+0.5
	}
	ratio = (a / n) / (c / m)
	spread := 1.959964 * math.Sqrt(max(0, 1/a-1/n+1/c-1/m))
	return ratio, ratio * math.Exp(-spread), ratio * math.Exp(spread)
}
