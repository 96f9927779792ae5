// Package instance joins activity into conferences. A conference has no id of its own:
// it is (AppID, conferenceID) and a time inside it, and activity that is at most 30 s
// apart is one conference (requirements CONF-01, CONF-02). The store and the conference
// processor both decide with this package, so they can never disagree.
package instance

// Gap is the longest silence inside one conference, in ms of event time.
const Gap = 30_000

// Span is a closed interval of event time, in ms since the epoch. Start <= End.
type Span struct{ Start, End int64 }

// At returns the span of one moment.
func At(ms int64) Span { return Span{ms, ms} }

// Joins reports whether a and b belong to the same conference: they overlap or lie at
// most Gap apart.
func (a Span) Joins(b Span) bool { return b.Start <= a.End+Gap && a.Start <= b.End+Gap }

// Contains reports whether ms lies in the span, widened by Gap on both sides.
func (a Span) Contains(ms int64) bool { return a.Joins(At(ms)) }

// Union returns the smallest span that holds both.
func (a Span) Union(b Span) Span { return Span{min(a.Start, b.Start), max(a.End, b.End)} }

// Merge adds s to spans, which are disjoint (no two join) and in any order. It returns
// the span that s became part of, and the indexes of the spans it absorbed; none means
// that s starts a conference of its own. The result does not depend on the order in
// which activity arrives.
func Merge(spans []Span, s Span) (merged Span, absorbed []int) {
	merged = s
	taken := make([]bool, len(spans))
	for again := true; again; {
		again = false
		for i, have := range spans {
			if !taken[i] && have.Joins(merged) {
				merged, taken[i], again = merged.Union(have), true, true
			}
		}
	}
	for i, t := range taken {
		if t {
			absorbed = append(absorbed, i)
		}
	}
	return merged, absorbed
}
