package live

import (
	"math"
	"slices"
	"sort"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/serve/budget"
)

const (
	// waitMs is the time for which an annotation waits for activity that may follow within the gap.
	// The client's clock may be up to 60 s ahead (docs/protocol.md, section 5).
	waitMs = instance.Gap + 60_000
	// maxWaiting bounds the waiting annotations of all applications. Each has a share of them.
	maxWaiting = 10_000
	// maxWaitingOfSlot bounds the waiting annotations of one conferenceID: a conference has no more.
	maxWaitingOfSlot = 2000
	// maxReads bounds the annotations for which one Tick requests reads of the store.
	maxReads = 64
)

// waitingAnnotation is an annotation that no conference of the Set owns.
type waitingAnnotation struct {
	conference.Annotation
	slot     *slot
	untilMs  int64    // time after which it is counted as unattached
	keptMs   int64    // time after which it is dropped
	attempts attempts // to restore its owner
	arrival  uint64   // its number in the order of arrival
	state    waitingState

	restored bool // read from the store with the conference that is being restored
}

type waitingState uint8

const (
	unread   waitingState = iota // a read of the store is due; → read, done
	read                         // a read was requested; → unread, reported, done
	reported                     // it was counted as unattached; → done
	done                         // it was attached or dropped
)

// waitingList holds the waiting annotations in order of their arrival.
type waitingList struct {
	list     []*waitingAnnotation
	ids      map[waitingID]*waitingAnnotation
	apps     map[string]*waitingOfApp
	arrivals uint64 // number of all annotations that waited
}

// waitingOfApp holds the waiting annotations of one application.
type waitingOfApp struct {
	waiting  int
	reported reportedQueue
}

func (of *waitingOfApp) count() int {
	if of == nil {
		return 0
	}
	return of.waiting
}

// reportedQueue holds annotations that were counted as unattached, oldest first.
type reportedQueue []*waitingAnnotation

// skipOver drops the annotations at the front that no longer wait.
func (q *reportedQueue) skipOver() {
	for len(*q) > 0 && (*q)[0].state == done {
		*q = (*q)[1:]
	}
}

type waitingID struct {
	appID string
	conference.AnnotationID
}

func newWaitingList() waitingList {
	return waitingList{ids: make(map[waitingID]*waitingAnnotation), apps: make(map[string]*waitingOfApp)}
}

// applyAnnotation attaches an annotation to the conference that owns it, or queues it.
func (s *Set) applyAnnotation(e *event.Event, nowMs, arrivedMs int64) Result {
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	at := e.ConferenceAtMs
	w := s.waiting.find(e) // only one that was read from the store waits
	if w != nil && w.slot != sl {
		s.unqueue(w) // the store has the first record of an identity
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

// find returns the waiting annotation of a record, nil if there is none.
func (l *waitingList) find(e *event.Event) *waitingAnnotation {
	if len(l.ids) == 0 {
		return nil
	}
	return l.ids[waitingID{e.AppID, conference.AnnotationIDOf(e)}]
}

// isOwner reports whether c certainly owns an annotation about a time: it is false if a conference
// may own it whose records only the store has. Such a conference ended before completeSince, or
// other processes write to the store.
func (s *Set) isOwner(c *conf, at int64) bool {
	span := c.span()
	switch {
	case s.completeSinceMs == 0 || span.Distance(at) == 0:
		return true
	case at < span.Start:
		return at >= s.completeSince(c.key.appID)
	}
	return s.isAfterStored(c, span)
}

// isAfterStored reports whether all conferences whose records only the store has ended no later than span.
func (s *Set) isAfterStored(c *conf, span instance.Span) bool {
	return span.End+instance.Gap >= s.completeSince(c.key.appID)
}

// wait queues an annotation until a conference owns it.
func (s *Set) wait(e *event.Event, nowMs int64) Result {
	k := key{e.AppID, e.ConferenceID}
	if !s.makeRoomToWait(k, nowMs) {
		s.noteMissed(e.AppID, nowMs)
		return Full
	}
	s.queue(s.slot(k), conference.NewAnnotation(e), nowMs)
	return Waiting
}

// makeRoomToWait reports whether one more annotation may wait. For a slot or an application at its
// limit it evicts annotations that were counted as unattached, oldest first.
func (s *Set) makeRoomToWait(k key, nowMs int64) bool {
	if sl := s.keys[k]; sl != nil && len(sl.waiting) >= maxWaitingOfSlot && !s.evictReported(&sl.reported, nowMs) {
		return false
	}
	of := s.waiting.apps[k.appID]
	for !budget.IsWithinShare(int64(of.count()+1), int64(maxWaiting-len(s.waiting.ids))) {
		if of == nil || !s.evictReported(&of.reported, nowMs) {
			return false
		}
	}
	return true
}

// evictReported evicts the first annotation of a queue. It reports false if there is none.
func (s *Set) evictReported(q *reportedQueue, nowMs int64) bool {
	q.skipOver()
	if len(*q) == 0 {
		return false
	}
	s.evictWaiting((*q)[0], nowMs)
	return true
}

func (s *Set) queue(sl *slot, a conference.Annotation, nowMs int64) {
	until := max(nowMs, a.PlaceMs()) + waitMs
	w := &waitingAnnotation{Annotation: a, slot: sl, untilMs: until, keptMs: max(until, nowMs+s.cfg.KeepEndedMs)}
	if s.completeSinceMs == 0 {
		w.state = read // there is no store
	}
	s.waiting.arrivals++
	w.arrival = s.waiting.arrivals
	sl.waiting = slices.Insert(sl.waiting, sl.waitingFrom(w.PlaceMs(), w.arrival), w)
	s.waiting.list = append(s.waiting.list, w)
	s.waiting.ids[w.id()] = w
	of := s.waiting.apps[sl.key.appID]
	if of == nil {
		of = new(waitingOfApp)
		s.waiting.apps[sl.key.appID] = of
	}
	of.waiting++
}

// waitingFrom returns the index of the first waiting annotation with that time and arrival, or later ones.
func (sl *slot) waitingFrom(placeMs int64, arrival uint64) int {
	return sort.Search(len(sl.waiting), func(i int) bool {
		w := sl.waiting[i]
		return w.PlaceMs() > placeMs || w.PlaceMs() == placeMs && w.arrival >= arrival
	})
}

func (w *waitingAnnotation) id() waitingID { return waitingID{w.slot.key.appID, w.ID} }

// attachWaiting attaches the waiting annotations that c owns since its growth g. An annotation
// continues to wait if the store may have a nearer conference.
func (s *Set) attachWaiting(sl *slot, c *conf, g growth, nowMs int64) {
	if len(sl.waiting) == 0 {
		sl.recheck = false
		return
	}
	if sl.recheck {
		sl.recheck = false
		s.attachWithin(sl, instance.Span{Start: math.MinInt64, End: math.MaxInt64}, nowMs)
		return
	}
	if !s.isAfterStored(c, g.before) && s.isAfterStored(c, g.after) {
		s.attachWithin(sl, g.ownedNow, nowMs)
		return
	}
	for _, times := range [...][2]instance.Span{gained(g.ownedBefore, g.ownedNow), gained(g.before, g.after)} {
		s.attachWithin(sl, times[0], nowMs)
		s.attachWithin(sl, times[1], nowMs)
	}
}

// attachWithin attaches the waiting annotations about times to the conferences that own them.
func (s *Set) attachWithin(sl *slot, times instance.Span, nowMs int64) {
	if times.End < times.Start {
		return
	}
	spans := sl.spans()
	for i := sl.waitingFrom(times.Start, 0); i < len(sl.waiting) && sl.waiting[i].PlaceMs() <= times.End; {
		w := sl.waiting[i]
		c := sl.ownerAmong(spans, w.PlaceMs())
		if c == nil || !w.restored && !s.isOwner(c, w.PlaceMs()) {
			i++
			continue
		}
		s.unqueue(w)
		s.annotate(c, w.Annotation)
		s.schedule(c, nowMs)
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

func (s *Set) unqueue(w *waitingAnnotation) {
	w.state = done
	i := w.slot.waitingFrom(w.PlaceMs(), w.arrival)
	w.slot.waiting = slices.Delete(w.slot.waiting, i, i+1)
	w.slot.reported.skipOver()
	delete(s.waiting.ids, w.id())
	of := s.waiting.apps[w.slot.key.appID]
	of.reported.skipOver()
	if of.waiting--; of.waiting == 0 {
		delete(s.waiting.apps, w.slot.key.appID)
	}
}

// expire requests reads of the store for new annotations, and counts and drops old ones.
func (s *Set) expire(nowMs int64) {
	reads := 0
	s.waiting.list = slices.DeleteFunc(s.waiting.list, func(w *waitingAnnotation) bool {
		switch {
		case w.state == done:
			return true
		case w.state == read && w.untilMs <= nowMs, w.state == unread && w.attempts.n > 0 && w.keptMs <= nowMs:
			s.report(w)
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

// report counts an annotation as unattached.
func (s *Set) report(w *waitingAnnotation) {
	w.state = reported
	s.unattached++
	w.slot.reported = append(w.slot.reported, w)
	of := s.waiting.apps[w.slot.key.appID]
	of.reported = append(of.reported, w)
}

func (s *Set) evictWaiting(w *waitingAnnotation, nowMs int64) {
	s.unqueue(w)
	s.rememberAnnotations(w.slot, []int64{w.PlaceMs()}, nowMs)
	s.tidy(w.slot)
}

// requestOwner adds the conference that may own an annotation to Partials.
func (s *Set) requestOwner(w *waitingAnnotation, nowMs int64) {
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
