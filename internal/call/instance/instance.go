// Package instance decides which conference a record belongs to. A conference has no id of
// its own: it is (AppID, conferenceID) and a time inside it (requirements CONF-01, CONF-02).
// Activity that is at most 30 s apart is one conference: Merge joins it. Annotations belong
// to the conference that Owner names. The store, the conference processor and the dashboard
// all decide with this package.
package instance

import "sort"

const (
	// Gap is the longest silence inside one conference, in ms of event time. An annotation
	// may precede its conference by as much.
	Gap = 30_000
	// Reach is how long after its end a conference owns annotations, in ms.
	Reach = 24 * 60 * 60 * 1000
)

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

// Owns reports whether an annotation about ms may belong to a conference with the span a:
// from Gap before its start to Reach after its end.
func (a Span) Owns(ms int64) bool { return a.Start-Gap <= ms && ms <= a.End+Reach }

// Distance returns how far ms lies outside the span, 0 inside it.
func (a Span) Distance(ms int64) int64 { return max(a.Start-ms, ms-a.End, 0) }

// Owner returns the index of the conference that owns an annotation about ms: the nearest of
// those that may own it, the earlier of two that are as near. Spans are of one (AppID,
// conferenceID), in any order. It returns -1 where none may own it.
func Owner(spans []Span, ms int64) int {
	best := -1
	for i, s := range spans {
		if s.Owns(ms) && (best < 0 || s.nearer(spans[best], ms)) {
			best = i
		}
	}
	return best
}

// OwnerOfSorted is Owner of n spans that ascend, none of which contains another: a binary search.
func OwnerOfSorted(n int, span func(int) Span, ms int64) int {
	next := sort.Search(n, func(i int) bool { return span(i).End >= ms })
	best := -1
	for i := max(next-1, 0); i < min(next+1, n); i++ {
		if s := span(i); s.Owns(ms) && (best < 0 || s.nearer(span(best), ms)) {
			best = i
		}
	}
	return best
}

func (a Span) nearer(b Span, ms int64) bool {
	if x, y := a.Distance(ms), b.Distance(ms); x != y {
		return x < y
	}
	return a.Start < b.Start
}

// Annotations returns the closed interval of times whose annotations own owns, as Owner
// decides. Previous and next are the conferences before and after own, nil where there is none.
func Annotations(previous *Span, own Span, next *Span) Span {
	out := Span{own.Start - Gap, own.End + Reach}
	if previous != nil {
		out.Start = firstOf(*previous, own)
	}
	if next != nil {
		out.End = min(out.End, firstOf(own, *next)-1)
	}
	return out
}

// firstOf returns the first time that b owns rather than a, which lies before it: from Gap
// before b's start on, and nearer to b than to a.
func firstOf(a, b Span) int64 { return max(b.Start-Gap, (a.End+b.Start)>>1+1) }
