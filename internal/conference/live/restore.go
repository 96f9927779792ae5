package live

import (
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
)

// Partial is a conference that has ended and of which only a part may be here, or one that may
// own an annotation of which none is here.
type Partial struct {
	AppID, ConferenceID string
	AtMs                int64 // a time that finds it in the store
	kind                partialKind
}

type partialKind uint8

const (
	ofConference partialKind = iota
	neighbour                // of one that was asked for
	annotation               // the owner of one
)

// maxAsked is how often one conference is in Partials before its summary does without what
// is missing.
const maxAsked = 5

// CompleteSince says that the set sees all of the conferences that begin at ms or later, and
// that there is a store that has the others: before it is summarised, such a one is in
// Partials, and Restored or NotRestored must follow. What arrives for a conference that was
// released is no longer TooLate.
func (s *Set) CompleteSince(ms int64) { s.completeSinceMs = max(s.completeSinceMs, ms) }

// Partials returns the conferences that wait for their other records since the last call.
func (s *Set) Partials() (partials []Partial) {
	partials, s.partials = s.partials, nil
	return partials
}

// ask lets c wait in Partials.
func (s *Set) ask(c *conf) {
	c.asked++
	s.partials = append(s.partials, Partial{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: c.span().Start})
}

// Restoring says that the conference that the store has at span is being read for p. What is
// here of its annotations, and is not among those that follow, belongs to another conference.
func (s *Set) Restoring(p Partial, span instance.Span) {
	if sl := s.keys[key{p.AppID, p.ConferenceID}]; sl != nil {
		for _, c := range sl.confs {
			if !c.span().Joins(span) {
				continue
			}
			c.unconfirmed = annotationIDs{}
			for a := range c.Annotations() {
				c.unconfirmed[a.ID] = struct{}{}
			}
		}
	}
}

// Restore takes one record from the store. Unlike Apply it is no sign of life: the
// conference ends when its records say so.
func (s *Set) Restore(e *event.Event, nowMs int64) Result {
	return s.apply(e, nowMs, conference.NotArrived)
}

// Restored says that all records of the conference that p finds were given to Restore, what
// its span is in the store, and which summary there is already: of revision 0 where there is
// none, with nothing but its revision where it cannot be read. A summary that says the same is
// not emitted again.
func (s *Set) Restored(p Partial, span instance.Span, stored conference.Summary, nowMs int64) {
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, span.Start) {
		c.coverage = complete
		if stored.Revision > 0 {
			c.revision = max(c.revision, stored.Revision)
			c.stored = &stored
			c.counted.recall(&stored)
		}
		if s.shared {
			c.asked = 0 // it may be asked for as often as others go on
		}
		s.detachUnconfirmed(c, nowMs)
		if p.kind != neighbour {
			s.askForNeighbours(c)
		}
		s.touch(c, true)
	}
}

// detachUnconfirmed takes annotations from c that the store gives to another conference, or to
// none: the store is asked for their owner.
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
	}
}

// NotStored says that the store has no conference that p finds: what is here is all.
func (s *Set) NotStored(p Partial) {
	if p.kind != ofConference {
		return // an annotation waits on
	}
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, p.AtMs) {
		c.coverage, c.unconfirmed = complete, nil
		s.touch(c, true)
	}
}

// NotRestored says that the records could not be had: the conference is in Partials again, or
// is summarised without them when that was often enough.
func (s *Set) NotRestored(p Partial) {
	sl := s.keys[key{p.AppID, p.ConferenceID}]
	if sl == nil {
		return
	}
	for _, w := range sl.waiting {
		if p.kind == annotation && w.PlaceMs() == p.AtMs && w.state == read && w.asked < maxAsked {
			w.state = unread
		}
	}
	for _, c := range sl.confs {
		c.unconfirmed = nil
	}
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, p.AtMs) {
		s.touch(c, true)
	}
}

// at returns the conference whose activity a time lies in.
func (s *Set) at(k key, ms int64) (confs []*conf) {
	if sl := s.keys[k]; sl != nil {
		for _, c := range sl.confs {
			if c.span().Distance(ms) == 0 {
				confs = append(confs, c)
			}
		}
	}
	return confs
}

// missed notes that a record found no room: its conference may find room later, without it.
func (s *Set) missed(nowMs int64) {
	if s.completeSinceMs != 0 {
		s.CompleteSince(nowMs + maxFutureMs + instance.Gap)
	}
}

// askForNeighbours asks for the conferences that owned annotations of c before it was there,
// or had grown: nobody here may have them.
func (s *Set) askForNeighbours(c *conf) {
	span := c.span()
	after := false
	for a := range c.Annotations() {
		after = after || a.PlaceMs() > span.End && a.PlaceMs() <= span.End+instance.Gap
	}
	if c.Annotated() { // the one before it owned what followed it, for a day
		s.askForNeighbour(c, span.Start-instance.Gap-1)
	}
	if after {
		s.askForNeighbour(c, span.End+2*instance.Gap+1)
	}
}

func (s *Set) askForNeighbour(c *conf, at int64) {
	s.partials = append(s.partials, Partial{c.key.appID, c.key.conferenceID, at, neighbour})
}

// IsHere reports whether the conference that p finds, a neighbour with that span in the store,
// is here with all of its records: then it need not be read.
func (s *Set) IsHere(p Partial, span instance.Span) bool {
	if p.kind != neighbour {
		return false
	}
	found := s.at(key{p.AppID, p.ConferenceID}, span.Start)
	return len(found) > 0 && !s.isPartial(found[0]) && found[0].span().Union(span) == found[0].span()
}

// GoesOn reports whether the conference that p finds has activity in the store, until
// span.End, that is not here, and that there may be more of it: then there is nothing to
// restore yet, and it is in Partials again when silence would have ended it.
func (s *Set) GoesOn(p Partial, span instance.Span, nowMs int64) bool {
	if !s.shared || nowMs > span.End+instance.Gap {
		return false
	}
	goes := false
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, p.AtMs) {
		if c.span().End < span.End {
			c.asked = 0
			s.checkAt(c, span.End+instance.Gap)
			goes = true
		}
	}
	return goes
}
