package conference

import (
	"iter"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
)

// Annotation is an annotation that is not attached to a conference yet. It is comparable by ID.
type Annotation struct {
	ID AnnotationID
	*sessionRecord
}

// AnnotationID is the identity of an annotation among those of one AppID.
type AnnotationID = identity

// NewAnnotation returns an event as an annotation.
func NewAnnotation(e *event.Event) Annotation {
	return Annotation{identity{strings.Clone(e.Session), e.Seq, e.Index}, newSessionRecord(e)}
}

// AnnotationIDOf returns the identity of an annotation's event.
func AnnotationIDOf(e *event.Event) AnnotationID { return identity{e.Session, e.Seq, e.Index} }

// Session returns the session of the annotation.
func (a Annotation) Session() string { return a.ID.session }

// PlaceMs returns the time that locates the annotation's conference, ms since the epoch.
func (a Annotation) PlaceMs() int64 { return a.placeMs }

// Span returns the time from the first to the last activity; of annotations alone while
// there is no activity.
func (c *Conference) Span() instance.Span { return c.span }

// Annotations yields the annotations whose PlaceMs is outside the conference's activity, in no
// order: another conference may become their owner. The caller may change the conference
// during the iteration.
func (c *Conference) Annotations() iter.Seq[Annotation] {
	return func(yield func(Annotation) bool) {
		for id, r := range c.sessionRecords {
			if !r.attempt && c.span.Distance(r.placeMs) > 0 && !yield(Annotation{id, r}) {
				return
			}
		}
	}
}

// Annotate attaches an annotation. It reports whether it was attached before. One beyond the limit
// of a conference is counted as truncated.
func (c *Conference) Annotate(a Annotation) (duplicate bool) {
	if c.sessionRecords[a.ID] != nil {
		return true
	}
	c.keep(a.ID, a.sessionRecord)
	return false
}

// Detach removes an annotation that belongs to another conference.
func (c *Conference) Detach(id AnnotationID) { delete(c.sessionRecords, id) }

// Annotated reports whether the conference has annotations, inside or outside of its activity.
func (c *Conference) Annotated() bool {
	for _, r := range c.sessionRecords {
		if !r.attempt {
			return true
		}
	}
	return false
}
