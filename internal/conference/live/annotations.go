package live

import (
	"slices"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
)

const (
	// waitMs is how long an annotation waits for activity that may follow within the gap. The
	// client's clock may be up to 60 s ahead (docs/protocol.md, section 5).
	waitMs = instance.Gap + 60_000
	// maxWaiting bounds the waiting annotations of all apps.
	maxWaiting = 10_000
	// maxReads is the number of annotations for which one Tick requests reads of the store.
	maxReads = 64
)

// waiting is an annotation that no conference of the Set owns.
type waiting struct {
	conference.Annotation
	slot     *slot
	untilMs  int64    // it is counted as unattached after that time
	keptMs   int64    // it is dropped after that time
	attempts attempts // to restore its owner
	state    waitingState

	restored bool // read from the store with the conference that is being restored
}

type waitingState uint8

const (
	unread   waitingState = iota // a read of the store is due; → read, over
	read                         // a read was requested; → unread, reported, over
	reported                     // it was counted as unattached; → over
	over                         // it was attached or dropped
)

// waitingList holds the waiting annotations in order of their arrival.
type waitingList struct {
	list []*waiting
	ids  map[waitingID]*waiting
}

type waitingID struct {
	appID string
	conference.AnnotationID
}

func newWaitingList() waitingList { return waitingList{ids: make(map[waitingID]*waiting)} }

// applyAnnotation attaches an annotation to the conference that owns it, or queues it.
func (s *Set) applyAnnotation(e *event.Event, nowMs, arrivedMs int64) Result {
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	at := e.ConferenceAtMs
	w := s.waiting.find(e) // only one that was read from the store waits
	if w != nil && w.slot != sl {
		s.unqueue(w) // the store keeps the first record of an identity
		s.tidy(w.slot)
		w = nil
	}
	c := sl.owner(at)
	switch {
	case c != nil:
		if w != nil {
			s.unqueue(w)
		}
		s.put(c, e, nowMs, arrivedMs)
		if !s.isOwner(c, at) && arrivedMs != conference.NotArrived {
			c.makePartial()
		}
		return Applied
	case s.completeSinceMs == 0 && sl.ownedByReleased(at):
		return TooLate
	case w != nil:
		w.restored = true
		return Duplicate
	}
	result := s.wait(e, nowMs)
	if arrivedMs == conference.NotArrived && result == Waiting {
		s.waiting.find(e).restored = true
	}
	return result
}

// find returns the waiting annotation that a record is, nil if it is none.
func (l *waitingList) find(e *event.Event) *waiting {
	if len(l.ids) == 0 {
		return nil
	}
	return l.ids[waitingID{e.AppID, conference.AnnotationIDOf(e)}]
}

// owner returns the conference that owns an annotation about a time, nil if none does.
func (sl *slot) owner(at int64) *conf {
	if sl == nil {
		return nil
	}
	return sl.ownerAmong(sl.spans(), at)
}

// ownerAmong is owner for many times: spans are those of the slot, which annotations do not change.
func (sl *slot) ownerAmong(spans []instance.Span, at int64) *conf {
	if i := instance.Owner(spans, at); i >= 0 && i < len(sl.confs) {
		return sl.confs[i]
	}
	return nil
}

func (sl *slot) ownedByReleased(at int64) bool {
	return sl != nil && instance.Owner(sl.spans(), at) >= len(sl.confs)
}

// spans returns the spans of the conferences, then those of the released ones that were not
// restored.
func (sl *slot) spans() []instance.Span {
	out := make([]instance.Span, 0, len(sl.confs)+len(sl.released))
	for _, c := range sl.confs {
		out = append(out, c.span())
	}
	for _, r := range sl.released {
		if !slices.ContainsFunc(sl.confs, func(c *conf) bool { return c.span().Union(r) == c.span() }) {
			out = append(out, r)
		}
	}
	return out
}

// isOwner reports whether c certainly owns an annotation about a time. It does not if the owner
// may be a conference of which only the store has records: one that ended before
// completeSinceMs, or any if other processes write to the store.
func (s *Set) isOwner(c *conf, at int64) bool {
	span := c.span()
	switch {
	case s.completeSinceMs == 0 || span.Distance(at) == 0:
		return true
	case at < span.Start:
		return at >= s.completeSinceMs
	}
	return span.End+instance.Gap >= s.completeSinceMs
}

// wait queues an annotation until a conference owns it.
func (s *Set) wait(e *event.Event, nowMs int64) Result {
	if len(s.waiting.list) >= maxWaiting && !s.dropWaiting(nowMs) {
		s.missed(nowMs)
		return Full
	}
	s.queue(s.slot(key{e.AppID, e.ConferenceID}), conference.NewAnnotation(e), nowMs)
	return Waiting
}

func (s *Set) queue(sl *slot, a conference.Annotation, nowMs int64) {
	until := max(nowMs, a.PlaceMs()) + waitMs
	w := &waiting{Annotation: a, slot: sl, untilMs: until, keptMs: max(until, nowMs+s.cfg.KeepEndedMs)}
	if s.completeSinceMs == 0 {
		w.state = read // there is no store
	}
	sl.waiting = append(sl.waiting, w)
	s.waiting.list = append(s.waiting.list, w)
	s.waiting.ids[w.id()] = w
}

func (w *waiting) id() waitingID { return waitingID{w.slot.key.appID, w.ID} }

// attachWaiting attaches waiting annotations to the conferences that own them now. An
// annotation keeps waiting if the store may have a nearer conference.
func (s *Set) attachWaiting(sl *slot, nowMs int64) {
	if len(sl.waiting) == 0 {
		return
	}
	spans := sl.spans()
	for _, w := range slices.Clone(sl.waiting) {
		if c := sl.ownerAmong(spans, w.PlaceMs()); c != nil && (w.restored || s.isOwner(c, w.PlaceMs())) {
			s.unqueue(w)
			s.annotate(c, w.Annotation)
			s.schedule(c, nowMs)
		}
	}
}

// annotate attaches an annotation to a conference.
func (s *Set) annotate(c *conf, a conference.Annotation) {
	if c.Annotate(a) {
		return
	}
	s.identify(c, a.Session(), a.ID.Seq(), a.ID.Index())
	s.touch(c, true)
}

func (s *Set) unqueue(w *waiting) {
	w.state = over
	w.slot.waiting = slices.DeleteFunc(w.slot.waiting, func(have *waiting) bool { return have == w })
	delete(s.waiting.ids, w.id())
}

// reassign moves every annotation of a slot to the conference that owns it after one has grown.
// So its conference depends on the set of records, not on the order of their arrival.
func (s *Set) reassign(sl *slot) {
	spans := sl.spans()
	for _, c := range sl.confs {
		var moved []conference.Annotation
		for a := range c.Annotations() {
			if to := sl.ownerAmong(spans, a.PlaceMs()); to != nil && to != c {
				moved = append(moved, a)
			}
		}
		for _, a := range moved {
			c.Detach(a.ID)
			s.annotate(sl.ownerAmong(spans, a.PlaceMs()), a)
			s.touch(c, true)
		}
	}
}

// expire requests reads of the store for new annotations, and counts and drops old ones.
func (s *Set) expire(nowMs int64) {
	reads := 0
	s.waiting.list = slices.DeleteFunc(s.waiting.list, func(w *waiting) bool {
		switch {
		case w.state == over:
			return true
		case w.state == read && w.untilMs <= nowMs, w.state == unread && w.attempts.n > 0 && w.keptMs <= nowMs:
			w.state = reported
			s.unattached++
		case w.state == unread && w.attempts.nextMs <= nowMs && reads < maxReads:
			reads++
			s.requestOwner(w, nowMs)
		}
		if w.keptMs > nowMs || w.state != reported {
			return false
		}
		s.evictWaiting(w, nowMs)
		return true
	})
}

// dropWaiting drops the oldest annotation that was counted as unattached. It reports whether
// there is room for another one.
func (s *Set) dropWaiting(nowMs int64) bool {
	s.waiting.list = slices.DeleteFunc(s.waiting.list, func(w *waiting) bool { return w.state == over })
	i := slices.IndexFunc(s.waiting.list, func(w *waiting) bool { return w.state == reported })
	if i >= 0 {
		s.evictWaiting(s.waiting.list[i], nowMs)
		s.waiting.list = slices.Delete(s.waiting.list, i, i+1)
	}
	return len(s.waiting.list) < maxWaiting
}

func (s *Set) evictWaiting(w *waiting, nowMs int64) {
	s.unqueue(w)
	s.rememberAnnotation(w.slot, w.PlaceMs(), nowMs)
	s.tidy(w.slot)
}

// requestOwner adds the conference that may own an annotation to Partials.
func (s *Set) requestOwner(w *waiting, nowMs int64) {
	w.state = read // NotRestored resets it
	w.attempts.add(nowMs)
	s.partials = append(s.partials, Partial{AppID: w.slot.key.appID, ConferenceID: w.slot.key.conferenceID, AtMs: w.PlaceMs(), kind: annotation})
}

// Unattached returns the number of annotations that were counted as unattached since the last
// call.
func (s *Set) Unattached() (n int) {
	n, s.unattached = s.unattached, 0
	return n
}
