package live

import (
	"maps"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/instance"
)

// lifecycle is the state of a conference in the Set.
type lifecycle uint8

const (
	alive   lifecycle = iota // has not ended; → ended
	ended                    // ended, and kept for late records; → alive
	removed                  // merged into another, or released: only queues refer to it
)

// coverage is the part of a conference's records that the Set has.
type coverage uint8

const (
	observed coverage = iota // those that arrived here; all of them, if it began after Set.completeSince
	partial                  // others were released, or may have arrived elsewhere; → complete
	complete                 // all stored records were read; → partial
	damaged                  // some stored records cannot be read, but the store has a summary; → partial
)

// evaluation is the next step of the evaluation of a conference's issues.
type evaluation uint8

const (
	idle      evaluation = iota // none; → scheduled, final
	scheduled                   // it has a time; → idle, reading, final
	reading                     // the store is read first; → scheduled, final
	final                       // the last one, after the end; → idle
)

// conf is one conference with activity in a Set. Fields that are no state belong to a queue
// (queued, dueSec), or are set and cleared independently of the states (changed, refreshed).
type conf struct {
	*conference.Conference
	key      key
	sessions map[string]struct{} // sessions of its records
	revision int

	lifecycle  lifecycle
	coverage   coverage
	evaluation evaluation

	attempts    attempts            // to restore it, since the last success
	unconfirmed annotationIDs       // its annotations that were not yet read from the store; nil: it is not being read
	last        stamp               // of its newest activity record
	stored      *conference.Summary // the stored summary at its restoration; nil: none, or unknown
	counted     countedParticipants // participants of earlier revisions
	changed     bool                // since the last summary
	beingRead   bool                // it is being read: see Config.Aside
	againMs     int64               // earliest time of the next summary
	endedMs     int64               // time of the Tick that ended it
	dueSec      int64               // its bucket in Set.due; 0: none
	queued      bool                // in Set.check

	bytes  int64 // as charged: see Set.charge
	shrunk bool  // only the store has its measurements, because its application held too much

	notices   notices
	refreshed bool // the store's records were read for its evaluation
}

type annotationIDs map[conference.AnnotationID]struct{}

// union returns the IDs of both; nil if both are nil. It may change either of them.
func (ids annotationIDs) union(o annotationIDs) annotationIDs {
	if ids == nil {
		return o
	}
	maps.Copy(ids, o)
	return ids
}

// span returns the span of its activity.
func (c *conf) span() instance.Span { return c.Span() }

// isPartial reports whether the store may have records of c that the Set does not have.
func (s *Set) isPartial(c *conf) bool {
	switch c.coverage {
	case observed:
		return s.completeSinceMs != 0 && c.span().Start < s.completeSince(c.key.appID)
	case partial:
		return s.completeSinceMs != 0
	case complete, damaged:
	}
	return false
}

// hasAll reports whether the Set has all records of c.
func (s *Set) hasAll(c *conf) bool { return c.coverage != damaged && !s.isPartial(c) }

// makePartial marks c: the store may have records of it that the Set does not have.
func (c *conf) makePartial() { c.coverage, c.attempts = partial, attempts{} }
