package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
)

// Part is a conference that has ended and of which only a part may be here.
type Part struct {
	AppID, ConferenceID string
	AtMs                int64 // a time inside it
	neighbour           bool  // of one that was asked for
}

// maxAsked is how often one conference stands in Parts before its summary does without what
// is missing.
const maxAsked = 5

// WholeFrom says that the set sees all of the conferences that begin at ms or later, and
// that there is a store that has the others: before it is summarised, such a one stands in
// Parts, and Restored or Missing must follow. What comes for a conference that was let go is
// no longer TooLate.
func (s *Set) WholeFrom(ms int64) { s.wholeFromMs = max(s.wholeFromMs, ms) }

// Parts returns the conferences that wait for their other records since the last call.
func (s *Set) Parts() (parts []Part) {
	parts, s.parts = s.parts, nil
	return parts
}

// ask lets c wait in Parts, by its start and its end in turn: remarks can be about several
// conferences of the store.
func (s *Set) ask(c *conf) {
	at := c.span.Start
	if c.asked%2 == 1 {
		at = c.span.End
	}
	c.asked++
	s.parts = append(s.parts, Part{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: at})
	if s.shared && c.active {
		s.askForNeighbours(c)
	}
}

// Restore takes one record from the store. Unlike Apply it is no sign of life: the
// conference ends when its records say so.
func (s *Set) Restore(e *event.Event, nowMs int64) Result { return s.apply(e, nowMs, math.MinInt64) }

// Restored says that all records of the conference at p were given to Restore, what its span
// is in the store, and which summary there is already: of revision 0 where there is none,
// with nothing but its revision where it cannot be read. A summary that says the same is
// not told again. Remarks
// that reach beyond the span are still a part: they are one conference for all that is
// known here, but can be about several.
func (s *Set) Restored(p Part, span instance.Span, told Summary) {
	for _, c := range s.at(p) {
		c.whole = c.active || c.span.Union(span) == span
		if told.Revision > 0 {
			c.revision = max(c.revision, told.Revision)
			c.told = &told
			c.counted.recall(&told)
		}
		if s.shared && c.whole {
			c.asked = 0 // it may be asked for as often as others go on
		}
		if s.shared && c.active && !p.neighbour {
			s.askForNeighbours(c) // of remarks that were restored
		}
		s.touch(c, true)
	}
}

// Missing says that they could not be had: the conference waits in Parts again, or is
// summarised without them when that was often enough.
func (s *Set) Missing(p Part) {
	for _, c := range s.at(p) {
		s.touch(c, true)
	}
}

// at returns what is at p: one conference with activity, or one of remarks.
func (s *Set) at(p Part) (confs []*conf) {
	if sl := s.keys[key{p.AppID, p.ConferenceID}]; sl != nil {
		for _, c := range sl.confs {
			if c.span.Start <= p.AtMs && p.AtMs <= c.span.End {
				confs = append(confs, c)
			}
		}
	}
	return confs
}

// isPart reports whether records of c may be missing.
func (s *Set) isPart(c *conf) bool {
	return s.wholeFromMs != 0 && !c.whole && (c.part || c.span.Start < s.wholeFromMs)
}

// missed notes that a record found no room: its conference may find room later, without it.
func (s *Set) missed(nowMs int64) {
	if s.wholeFromMs != 0 {
		s.WholeFrom(nowMs + maxFutureMs + instance.Gap)
	}
}
