package conference

import (
	"cmp"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// A summary needs the same times for many streams: when the sender sent, when all others were silent, when a participant
// shared a screen. A conference may have 50,000 streams and 5,000 participants, and clients choose both numbers, so each
// list of times is computed once and has a limited length.

// maxSpans bounds a list of times that is compared with other lists.
const maxSpans = 512

// firstSpans returns at most maxSpans of spans, the earliest. It is for times of evidence: without some of them less is proven.
func firstSpans(spans []detect.Span) []detect.Span { return spans[:min(len(spans), maxSpans)] }

// coarsen returns at most about maxSpans spans that contain those given, which are ascending and disjoint: it joins those
// that are close together. It is for times of excuses, which may be longer than necessary.
func coarsen(spans []detect.Span) []detect.Span {
	for gapMs := int64(1000); len(spans) > maxSpans; gapMs *= 2 {
		spans = join(spans, gapMs)
	}
	return spans
}

// mediaKey is the key of one participant's media of one kind; name is a userID or a session.
type mediaKey struct{ name, media string }

// mediaTimes caches the times of participants' media.
type mediaTimes struct {
	sends    map[mediaKey]sendTimes   // by session
	silence  map[mediaKey]*agreement  // by userID
	together map[string][2]*agreement // by kind of media
	halts    map[string][]detect.Span // by session
	screens  map[int][]detect.Span    // by index
}

func newMediaTimes() mediaTimes {
	return mediaTimes{map[mediaKey]sendTimes{}, map[mediaKey]*agreement{}, map[string][2]*agreement{}, map[string][]detect.Span{}, map[int][]detect.Span{}}
}

// memoize returns the value of a key in a cache, and computes it the first time.
func memoize[K comparable, V any](known map[K]V, key K, find func() V) V {
	answer, ok := known[key]
	if !ok {
		answer = find()
		known[key] = answer
	}
	return answer
}

// agreement holds the times in which a condition was true for all members of a group, and for all but one.
type agreement struct {
	all    []detect.Span
	butOne map[int][]detect.Span // by the member for whom it was false; it has a key for each member
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
	absent, missing := len(spans), 0 // number and sum of the members without a span: the sum of a single one is that member
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

// except returns the times in which the condition was true for all members of the group except one, which need not be a
// member. It is nil if there are no other members.
func (a *agreement) except(one int) []detect.Span {
	own, isMember := a.butOne[one]
	if len(a.butOne) == btoi(isMember) {
		return nil
	}
	return detect.Merge(slices.Concat(a.all, own))
}
