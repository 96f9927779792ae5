package live

import (
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
)

// Partial identifies a conference to be read from the store: an ended one of which the Set may
// lack records, or one that may own an annotation.
type Partial struct {
	AppID, ConferenceID string
	AtMs                int64 // a time within it, or of the annotation
	kind                partialKind
}

func (p Partial) key() key { return key{p.AppID, p.ConferenceID} }

type partialKind uint8

const (
	ofConference partialKind = iota
	neighbour                // of a restored conference
	annotation               // the owner of one
)

const (
	// minAttempts is the number of attempts to read a conference before it makes room for others.
	minAttempts = 5
	// maxRetryMs bounds the interval between two attempts.
	maxRetryMs = 60_000
)

// attempts describes the requested reads of a conference from the store.
type attempts struct {
	n       int
	firstMs int64 // time of the first
	nextMs  int64 // earliest time of the next
}

// add counts an attempt. The second one may follow at once, since the first may have been
// interrupted; then the intervals double.
func (a *attempts) add(nowMs int64) {
	if a.n == 0 {
		a.firstMs = nowMs
	} else {
		a.nextMs = nowMs + min(int64(500)<<min(a.n, 10), maxRetryMs)
	}
	a.n++
}

// CompleteSince sets the time since which the Set receives all records of conferences that begin,
// and declares that a store has the earlier records. An earlier conference is in Partials before
// it is summarised, and the caller MUST call Restored, NotStored or NotRestored. Records of a
// released conference are no longer TooLate.
func (s *Set) CompleteSince(ms int64) { s.completeSinceMs = max(s.completeSinceMs, ms) }

// Partials returns the conferences to be read from the store since the last call.
func (s *Set) Partials() (partials []Partial) {
	partials, s.partials = s.partials, nil
	return partials
}

// requestRestore adds c to Partials.
func (s *Set) requestRestore(c *conf, nowMs int64) {
	c.attempts.add(nowMs)
	s.partials = append(s.partials, Partial{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: c.span().Start})
}

// givesUp reports whether c is summarised without the records that only the store has: they could
// not be read for KeepEndedMs, or the Set is full.
func (s *Set) givesUp(c *conf, nowMs int64) bool {
	if c.attempts.n < minAttempts || nowMs-c.attempts.firstMs <= s.cfg.KeepEndedMs && s.count < s.cfg.MaxConferences {
		return false
	}
	s.unrestored++
	return true
}

// Unrestored returns the number of summaries since the last call that cover only a part of their
// conference, because stored records could not be read.
func (s *Set) Unrestored() (n int) {
	n, s.unrestored = s.unrestored, 0
	return n
}

// Restoring begins the restoration of p, whose span in the store is span. Annotations of the
// conference that are not passed to Restore then belong to another one.
func (s *Set) Restoring(p Partial, span instance.Span) {
	for _, c := range s.confsJoining(p, span) {
		c.unconfirmed = annotationIDs{}
		for a := range c.Annotations() {
			c.unconfirmed[a.ID] = struct{}{}
		}
	}
}

// Restore applies one record from the store. Unlike Apply it does not prolong the conference
// beyond the record's event time.
func (s *Set) Restore(e *event.Event, nowMs int64) Result {
	return s.apply(e, nowMs, conference.NotArrived)
}

// Restored ends the restoration of p: all of its records were passed to Restore. span is its span in
// the store and stored its summary: with revision 0 if there is none, and with the revision alone
// if it cannot be read. An equal summary is not emitted again.
func (s *Set) Restored(p Partial, span instance.Span, stored conference.Summary, nowMs int64) {
	for _, c := range s.confsAt(p, span.Start) {
		c.coverage, c.attempts, c.shrunk = complete, attempts{}, false
		c.setStored(&stored)
		s.detachUnconfirmed(c, nowMs)
		if p.kind != neighbour {
			s.requestNeighbours(c)
		}
		s.touch(c, true)
	}
}

// setStored sets the stored summary of c.
func (c *conf) setStored(stored *conference.Summary) {
	if stored.Revision > 0 {
		c.revision = max(c.revision, stored.Revision)
		c.stored = stored
		c.counted.addStored(stored)
	}
}

// Damaged ends the restoration of p like Restored, if some of its records cannot be read. A stored
// summary, which covers them, is replaced only after later activity. If there is none, the summary
// covers the records that could be read.
func (s *Set) Damaged(p Partial, span instance.Span, stored conference.Summary) {
	for _, c := range s.confsJoining(p, span) { // the first record may be a damaged one
		c.unconfirmed = nil
		if !s.isPartial(c) {
			continue // the Set has all records, or this was reported before
		}
		c.coverage, c.attempts = damaged, attempts{}
		c.setStored(&stored)
		s.touch(c, true)
	}
}

// detachUnconfirmed detaches the annotations of c that the store attaches to another conference
// or to none, and queues them to find their owner.
func (s *Set) detachUnconfirmed(c *conf, nowMs int64) {
	var moved []conference.Annotation
	for a := range c.Annotations() {
		if _, ok := c.unconfirmed[a.ID]; ok {
			moved = append(moved, a)
		}
	}
	c.unconfirmed = nil
	for _, a := range moved {
		c.Detach(a.ID)
		s.queue(s.keys[c.key], a, nowMs)
		s.keys[c.key].recheck = true
	}
}

// NotStored reports that the store has no conference at p. The Set has all of its records.
func (s *Set) NotStored(p Partial) {
	if p.kind != ofConference {
		return // an annotation continues to wait
	}
	for _, c := range s.confsAt(p, p.AtMs) {
		c.coverage, c.unconfirmed, c.shrunk = complete, nil, false
		s.touch(c, true)
	}
}

// NotRestored reports that the records could not be read now. The conference is in Partials again
// for KeepEndedMs, or until minAttempts if the Set is full. Then it is summarised without them, and
// an annotation has no owner.
func (s *Set) NotRestored(p Partial) {
	sl := s.keys[p.key()]
	if sl == nil {
		return
	}
	for _, w := range sl.waiting {
		if p.kind == annotation && w.PlaceMs() == p.AtMs && w.state == read {
			w.state = unread
		}
	}
	for _, c := range sl.confs {
		c.unconfirmed = nil
	}
	for _, c := range s.confsAt(p, p.AtMs) {
		s.touch(c, true)
	}
}

// confsAt returns the conference of p whose activity contains a time: at most one.
func (s *Set) confsAt(p Partial, ms int64) []*conf {
	sl := s.keys[p.key()]
	if sl == nil {
		return nil
	}
	i := sl.endsAt(ms)
	return slices.Clone(sl.confs[i:max(i, sl.startsAt(ms+1))])
}

// confsJoining returns the conferences of p that join a span.
func (s *Set) confsJoining(p Partial, span instance.Span) []*conf {
	sl := s.keys[p.key()]
	if sl == nil {
		return nil
	}
	i := sl.endsAt(span.Start - instance.Gap)
	return slices.Clone(sl.confs[i:max(i, sl.startsAt(span.End+instance.Gap+1))])
}

// noteMissed records that a record of an application had no room. Conferences that begin until such
// a record is too late may lack it.
func (s *Set) noteMissed(app string, nowMs int64) {
	if s.completeSinceMs != 0 {
		s.missedMs[strings.Clone(app)] = nowMs + maxFutureMs + instance.Gap
	}
}

// completeSince returns the time since which the Set has all records of an application's conferences
// that begin; 0 if there is no store.
func (s *Set) completeSince(app string) int64 { return max(s.completeSinceMs, s.missedMs[app]) }

// requestNeighbours adds to Partials the conferences that may have owned annotations of c before
// c began or grew.
func (s *Set) requestNeighbours(c *conf) {
	span := c.span()
	after := false
	for a := range c.Annotations() {
		after = after || a.PlaceMs() > span.End && a.PlaceMs() <= span.End+instance.Gap
	}
	if c.Annotated() { // a conference owns later annotations for a day
		s.requestNeighbour(c, span.Start-instance.Gap-1)
	}
	if after {
		s.requestNeighbour(c, span.End+2*instance.Gap+1)
	}
}

func (s *Set) requestNeighbour(c *conf, at int64) {
	s.partials = append(s.partials, Partial{c.key.appID, c.key.conferenceID, at, neighbour})
}

// IsComplete reports whether p is a neighbour whose records, which have that span in the store, the
// Set has all, so that it need not be read.
func (s *Set) IsComplete(p Partial, span instance.Span) bool {
	if p.kind != neighbour {
		return false
	}
	found := s.confsAt(p, span.Start)
	return len(found) > 0 && !s.isPartial(found[0]) && found[0].span().Union(span) == found[0].span()
}

// Continues reports whether the conference at p has later activity in the store, until span.End,
// and has not ended. Then it is not restored yet, and is in Partials again after the gap.
func (s *Set) Continues(p Partial, span instance.Span, nowMs int64) bool {
	if !s.shared || nowMs > span.End+instance.Gap {
		return false
	}
	continues := false
	for _, c := range s.confsAt(p, p.AtMs) {
		if c.span().End < span.End {
			c.attempts = attempts{}
			s.checkAt(c, span.End+instance.Gap)
			continues = true
		}
	}
	return continues
}
