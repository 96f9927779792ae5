package live

import (
	"cmp"
	"slices"
	"sort"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
)

// One slot may have many instances, released spans and annotations. So all of them are sorted, and
// after a record that grows a conference only the annotations are examined whose owner it changes:
// those in the times that the conference owns now and did not own before.

// owners holds the spans of a slot, ascending: those of conferences, no two of which join, and
// released ones, none of which another span contains.
type owners struct {
	confs    []*conf
	released []instance.Span
}

// spans returns the spans of the slot.
func (sl *slot) spans() owners {
	sl.sort()
	return owners{sl.confs, sl.released}
}

// sort sorts the spans that were released since the last call. It drops released spans that another
// one contains: they own nothing.
func (sl *slot) sort() {
	if !sl.unsorted && len(sl.released) == sl.sortedLen {
		return
	}
	if sl.unsorted {
		slices.Sort(sl.lost)
		slices.SortFunc(sl.released, func(a, b instance.Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
		})
		last := instance.Span{End: -1}
		sl.released = slices.DeleteFunc(sl.released, func(r instance.Span) bool {
			i := sl.endsAt(r.End)
			if r.End <= last.End || i < len(sl.confs) && sl.confs[i].span().Start <= r.Start {
				return true
			}
			last = r
			return false
		})
	}
	sl.unsorted, sl.recheck, sl.sortedLen = false, true, len(sl.released)
}

// endsAt returns the index of the first conference that ends at a time or later.
func (sl *slot) endsAt(ms int64) int {
	return sort.Search(len(sl.confs), func(i int) bool { return sl.confs[i].span().End >= ms })
}

// startsAt returns the index of the first conference that begins at a time or later.
func (sl *slot) startsAt(ms int64) int {
	return sort.Search(len(sl.confs), func(i int) bool { return sl.confs[i].span().Start >= ms })
}

// confJoinedAt returns a conference that activity at a time joins, nil if there is none. If there are
// two, Set.join joins them.
func (sl *slot) confJoinedAt(at int64) *conf {
	if sl == nil {
		return nil
	}
	if i := sl.endsAt(at - instance.Gap); i < len(sl.confs) && sl.confs[i].span().Contains(at) {
		return sl.confs[i]
	}
	return nil
}

// adjacent returns the last conference that began by a time, which may contain it, and the next one.
func (sl *slot) adjacent(at int64) []*conf {
	i := sl.startsAt(at + 1)
	return sl.confs[max(i-1, 0):min(i+1, len(sl.confs))]
}

func (sl *slot) wasReleased(at int64) bool {
	if sl == nil {
		return false
	}
	sl.sort()
	i := sort.Search(len(sl.released), func(i int) bool { return sl.released[i].End+instance.Gap >= at })
	return i < len(sl.released) && sl.released[i].Contains(at)
}

// owner returns the conference that owns an annotation about a time, nil if none does.
func (sl *slot) owner(at int64) *conf {
	if sl == nil {
		return nil
	}
	return sl.ownerAmong(sl.spans(), at)
}

// ownerAmong is owner for many times. spans MUST be those of the slot; attaching annotations does not
// change them.
func (sl *slot) ownerAmong(spans owners, at int64) *conf {
	c, _ := spans.ownerAt(at)
	return c
}

func (sl *slot) ownedByReleased(at int64) bool {
	if sl == nil {
		return false
	}
	_, released := sl.spans().ownerAt(at)
	return released
}

// ownerAt returns the conference that owns an annotation about a time, nil if none does; released reports
// whether a released one owns it.
func (o owners) ownerAt(at int64) (c *conf, released bool) {
	i := instance.OwnerOfSorted(len(o.confs), func(i int) instance.Span { return o.confs[i].span() }, at)
	j := instance.OwnerOfSorted(len(o.released), func(i int) instance.Span { return o.released[i] }, at)
	if i < 0 || j >= 0 && instance.Owner([]instance.Span{o.confs[i].span(), o.released[j]}, at) != 0 {
		return nil, j >= 0
	}
	return o.confs[i], false
}

// emptySpan is a span without a time.
var emptySpan = instance.Span{Start: 0, End: -1}

// territory returns the times of the annotations that c owns if its span is own.
func (sl *slot) territory(c *conf, own instance.Span) instance.Span {
	var previous, next *instance.Span
	i := sl.startsAt(c.span().Start)
	if i > 0 {
		span := sl.confs[i-1].span()
		previous = &span
	}
	if i+1 < len(sl.confs) {
		span := sl.confs[i+1].span()
		next = &span
	}
	out := instance.Annotations(previous, own, next)
	before := sort.Search(len(sl.released), func(i int) bool { return sl.released[i].Start >= own.Start }) - 1
	if before >= 0 {
		switch r := sl.released[before]; {
		case r.End >= own.End:
			return emptySpan
		case r.End >= own.Start:
			out.Start = r.End + 1
		default:
			out.Start = max(out.Start, instance.Annotations(&r, own, nil).Start)
		}
	}
	after := sort.Search(len(sl.released), func(i int) bool { return sl.released[i].End > own.End })
	if after < len(sl.released) {
		if r := sl.released[after]; r.Start <= own.End {
			out.End = own.End
		} else {
			out.End = min(out.End, instance.Annotations(nil, own, &r).End)
		}
	}
	return out
}

// coverReleased drops the released spans that a conference contains. It reports whether there
// were any.
func (sl *slot) coverReleased(own instance.Span) bool {
	i := sort.Search(len(sl.released), func(i int) bool { return sl.released[i].Start >= own.Start })
	j := sort.Search(len(sl.released), func(i int) bool { return sl.released[i].End > own.End })
	if i >= j {
		return false
	}
	sl.released = slices.Delete(sl.released, i, j)
	sl.sortedLen = len(sl.released)
	return true
}

// growth is the change of a conference's span and territory by one record.
type growth struct {
	before, after         instance.Span // of its activity
	ownedBefore, ownedNow instance.Span // its territory
}

// gained returns the times in b that are not in a, which b contains.
func gained(a, b instance.Span) [2]instance.Span {
	if a.End < a.Start {
		return [2]instance.Span{b, emptySpan}
	}
	return [2]instance.Span{{Start: b.Start, End: a.Start - 1}, {Start: a.End + 1, End: b.End}}
}

// handleGrowth joins c, whose span has grown, with the conferences that it touches, and attaches the
// annotations that it owns. before is its previous span, except for a fresh conference.
func (s *Set) handleGrowth(sl *slot, c *conf, before instance.Span, fresh bool, nowMs int64) {
	if c.lifecycle == removed { // its application held too much
		return
	}
	sl.sort()
	g := growth{before: before, ownedBefore: emptySpan}
	if fresh {
		g.before = emptySpan
	} else {
		g.ownedBefore = sl.territory(c, before)
	}
	s.join(sl, c)
	if g.after = c.span(); sl.coverReleased(g.after) {
		g.ownedBefore = emptySpan
	}
	g.ownedNow = sl.territory(c, g.after)
	s.reassign(sl, c, g)
	s.attachWaiting(sl, c, g, nowMs)
	s.reclaim(sl, c, g.ownedNow)
}

// join merges into c the conferences before and after it whose activity it now touches.
func (s *Set) join(sl *slot, c *conf) {
	for again := true; again; {
		again = false
		i := sl.startsAt(c.span().Start)
		for _, o := range sl.confs[max(i-1, 0):min(i+2, len(sl.confs))] {
			if o != c && c.span().Joins(o.span()) {
				s.absorb(sl, c, o)
				again = true
				break
			}
		}
	}
}

// reassign moves to c the annotations of the adjacent conferences that it owns since its growth g.
// So the conference of an annotation depends on the set of records, not on the order of their
// arrival.
func (s *Set) reassign(sl *slot, c *conf, g growth) {
	times := gained(g.ownedBefore, g.ownedNow)
	if len(sl.confs) < 2 || times[0].End < times[0].Start && times[1].End < times[1].Start {
		return
	}
	i := sl.startsAt(c.span().Start)
	for _, o := range sl.confs[max(i-1, 0):min(i+2, len(sl.confs))] {
		if o == c {
			continue
		}
		var moved []conference.Annotation
		for a := range o.Annotations() {
			if at := a.PlaceMs(); times[0].Distance(at) == 0 || times[1].Distance(at) == 0 {
				moved = append(moved, a)
			}
		}
		for _, a := range moved {
			o.Detach(a.ID)
			s.annotate(c, a)
			s.touch(o, true)
			s.touch(c, true)
		}
	}
}

// reclaim makes c partial if it owns annotations that were released.
func (s *Set) reclaim(sl *slot, c *conf, owned instance.Span) {
	i, _ := slices.BinarySearch(sl.lost, owned.Start)
	j, _ := slices.BinarySearch(sl.lost, owned.End+1)
	if i >= j {
		return
	}
	all := sl.lost
	sl.lost = all[i:j]
	s.checkReleased(sl, c)
	sl.lost = slices.Delete(all, i+len(sl.lost), j)
}

// confirmed reports whether the record was applied before to a conference near its time. An
// annotation then counts as confirmed by the store.
func (s *Set) confirmed(e *event.Event) bool {
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	if sl == nil {
		return false
	}
	for _, c := range sl.adjacent(e.PlaceMs()) {
		if c.Seen(e) {
			delete(c.unconfirmed, conference.AnnotationIDOf(e))
			return true
		}
	}
	return false
}
