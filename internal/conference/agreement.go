package conference

import (
	"cmp"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// A summary asks the same of each stream: when its sender sent, when all others were silent, when somebody shared a screen.
// A conference may have 50,000 streams and 5,000 participants, and clients choose both, so each answer is found once and
// has a limited length.

// maxSpans is the most times of a list that other lists are compared with.
const maxSpans = 512

// first returns the first of spans: times that are left out prove nothing.
func first(spans []detect.Span) []detect.Span { return spans[:min(len(spans), maxSpans)] }

// coarse returns spans that contain those given, ascending and disjoint, of which those that are close are joined if there
// are too many: an excuse that is longer than the times that it is for.
func coarse(spans []detect.Span) []detect.Span {
	for gapMs := int64(1000); len(spans) > maxSpans; gapMs *= 2 {
		spans = join(spans, gapMs)
	}
	return spans
}

// whose names a kind of media of somebody: a userID, or a session.
type whose struct{ name, media string }

// found has answers about participants that were found so far.
type found struct {
	sends    map[whose]sending        // by session
	silence  map[whose]*agreement     // by userID
	together map[string][2]*agreement // by kind of media
	halts    map[string][]detect.Span // by session
	screens  map[int][]detect.Span    // by index
}

func newFound() found {
	return found{map[whose]sending{}, map[whose]*agreement{}, map[string][2]*agreement{}, map[string][]detect.Span{}, map[int][]detect.Span{}}
}

// once returns the answer to a key, which is found if it is not known.
func once[K comparable, V any](known map[K]V, key K, find func() V) V {
	answer, ok := known[key]
	if !ok {
		answer = find()
		known[key] = answer
	}
	return answer
}

// agreement is when something was true of all of a group, and when of all but one.
type agreement struct {
	all    []detect.Span
	butOne map[int][]detect.Span // by the one of whom it was not true; it has all members
}

// edge is the begin or the end of a span of a member.
type edge struct {
	at     int64
	member int
	begins bool
}

// agree compares the spans of the members of a group, which are ascending and disjoint, by member.
func agree(spans map[int][]detect.Span) *agreement {
	a := &agreement{butOne: make(map[int][]detect.Span, len(spans))}
	var edges []edge
	absent, missing := len(spans), 0 // the number of members, and their sum: of a single one that is itself
	for member, list := range spans {
		missing += member
		a.butOne[member] = nil
		for _, s := range list {
			edges = append(edges, edge{s.FromMs, member, true}, edge{s.ToMs, member, false})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	from := int64(math.MinInt64)
	for _, e := range edges {
		span := detect.Span{FromMs: from, ToMs: e.at}
		switch {
		case from == e.at:
		case absent == 0:
			a.all = append(a.all, span)
		case absent == 1:
			a.butOne[missing] = append(a.butOne[missing], span)
		}
		from = e.at
		if e.begins {
			absent, missing = absent-1, missing-e.member
		} else {
			absent, missing = absent+1, missing+e.member
		}
	}
	return a
}

// without returns when something was true of all members of the group but one, or of all for no member. It is nil if there are no others.
func (a *agreement) without(one int) []detect.Span {
	own, isMember := a.butOne[one]
	if len(a.butOne) == btoi(isMember) {
		return nil
	}
	return detect.Merge(slices.Concat(a.all, own))
}
