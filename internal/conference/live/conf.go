package live

import (
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/instance"
)

// lifecycle is where a conference is in its life.
type lifecycle uint8

const (
	alive lifecycle = iota // has not ended; → ended
	ended                  // ended, and kept for late records; → alive
	gone                   // part of another, or released: only queues refer to it
)

// coverage is how much of a conference's records is here.
type coverage uint8

const (
	observed coverage = iota // what arrived since it began; all of it, if that is after Set.completeSinceMs
	partial                  // others were released, or may have arrived elsewhere; → complete
	complete                 // all that the store has were read; → partial
)

// evaluation is what comes next for a conference's issues.
type evaluation uint8

const (
	idle      evaluation = iota // nothing; → scheduled, final
	scheduled                   // it has a time; → idle, reading, final
	reading                     // the store is read first; → scheduled, final
	final                       // the last one, at once, for it ended; → idle
)

// conf is one conference in a Set: one with activity. What is not a state is a queue's mark
// (queued, dueSec), or is set and cleared apart from every state (changed, refreshed).
type conf struct {
	*conference.Conference
	key      key
	sessions map[string]struct{} // of which it has records
	revision int

	lifecycle  lifecycle
	coverage   coverage
	evaluation evaluation

	asked       int                 // how often it was in Partials
	unconfirmed annotationIDs       // that are here, and were not read from the store so far; nil: it is not being read
	last        stamp               // of its activity
	stored      *conference.Summary // that the store has, when it was restored; nil: none, or not known
	counted     counted             // participants of earlier revisions
	changed     bool                // since the last summary
	endedMs     int64               // when it was found ended
	dueSec      int64               // the bucket that it is in; 0: none
	queued      bool                // in check

	notices   notices
	refreshed bool // the store's records were read for its evaluation
}

type annotationIDs map[conference.AnnotationID]struct{}

// span is the time of its activity.
func (c *conf) span() instance.Span { return c.Span() }

// isPartial reports whether records of c may be missing that a store has.
func (s *Set) isPartial(c *conf) bool {
	switch c.coverage {
	case observed:
		return s.completeSinceMs != 0 && c.span().Start < s.completeSinceMs
	case partial:
		return s.completeSinceMs != 0
	case complete:
	}
	return false
}

// makePartial notes that the store may have records of c that are not here.
func (c *conf) makePartial() { c.coverage, c.asked = partial, 0 }
