// Package join decides which conferences records belong to, and updates an engine's rows.
// Package instance has the rules.
//
// A row is a conference: the span that package instance makes of times of activity. Rows of one
// PlaceID are always more than instance.Gap apart. An annotation belongs to the row that
// instance.Owner returns; without one it is listed as unattached, until a row is
// created that owns it. So the rows depend on the stored records alone, not on their order of
// arrival.
//
// A row has terms, by which it is found: the terms of its participants' sessions, as
// long as they take part, and the terms of records of activity, permanently, because activity never
// leaves its conference. It also has the renames of its participants, from records of activity.
package join

import (
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Row is the part of a conference's row that this package needs.
type Row struct {
	Key     int64
	Span    instance.Span
	Packed  bool   // all its activity is in chunks; engines that do not pack leave it false
	Summary *Order // nil without a summary
}

// Table is the rows and frames of one PlaceID, within one transaction. Frames are written
// before Activity and Annotation are called.
type Table interface {
	// Around returns, in order of time, the last row that starts at span.Start or before, the
	// rows that start inside the span, and the first that starts after it.
	Around(span instance.Span) ([]Row, error)
	// Insert creates a row and returns its key.
	Insert(span instance.Span) (int64, error)
	// Stretch changes the span of a row. moved reports whether its start changes, which its terms
	// have a copy of.
	Stretch(key int64, span instance.Span, moved bool) error
	// SetLoose marks a packed row as having loose activity.
	SetLoose(key int64) error
	// Participate adds a session and its terms to a row, if the row does not have them.
	Participate(key, session int64) error
	// AddTerms adds search terms from records of activity to a row, if the row does not have them.
	AddTerms(key int64, terms []term.Term) error
	// Rename adds renames of a session's user to a row, if the row does not have them, and keeps the
	// newest term.MaxRenames of that session.
	Rename(key, session int64, renames []term.Rename) error
	// Absorb moves participants, terms and renames to the row into, and the summary if summary is
	// true. It deletes the row from.
	Absorb(into, from int64, summary bool) error
	// PutSummary writes the summary of a row.
	PutSummary(key int64, s *Summary) error
	// Annotated reports whether there are annotations about a time in a span.
	Annotated(span instance.Span) (bool, error)
	// Detach lists annotations of a session about a time as unattached, if they are not listed.
	Detach(session, at int64) error
	// Attach removes the unattached annotations about a time in a span from the list, and returns
	// their sessions.
	Attach(span instance.Span) (sessions []int64, err error)
	// Recount replaces the participants of a row, and their terms, by those of the stored frames and
	// chunks: of activity in span, and of annotations in own.
	Recount(key int64, span, own instance.Span) error
}

// Place adds records and summaries to the rows of a table.
type Place struct{ Table Table }

// Activity adds activity of a session with its terms and renames: it extends, merges or creates a row.
func (p Place) Activity(session int64, span instance.Span, recorded term.Recorded) error {
	rows, err := p.Table.Around(widen(span))
	if err != nil {
		return err
	}
	merged, absorbed := instance.Merge(spans(rows), span)
	if len(absorbed) == 1 && merged == rows[absorbed[0]].Span {
		return p.takePart(rows[absorbed[0]], session, recorded) // the span is unchanged
	}
	row, err := p.merge(rows, absorbed, merged)
	if err != nil {
		return err
	}
	if err := p.takePart(row, session, recorded); err != nil {
		return err
	}
	return p.annotate(row, bordersOf(rows, absorbed, merged))
}

// widen returns the range of times that join a span.
func widen(span instance.Span) instance.Span {
	return instance.Span{Start: span.Start - instance.Gap, End: span.End + instance.Gap}
}

// takePart adds activity of a session to a row, and marks the row as loose.
func (p Place) takePart(row Row, session int64, recorded term.Recorded) error {
	if row.Packed {
		if err := p.Table.SetLoose(row.Key); err != nil {
			return err
		}
	}
	if err := p.Table.Participate(row.Key, session); err != nil {
		return err
	}
	if len(recorded.Renames) > 0 {
		if err := p.Table.Rename(row.Key, session, recorded.Renames); err != nil {
			return err
		}
	}
	if len(recorded.Terms) == 0 {
		return nil
	}
	return p.Table.AddTerms(row.Key, recorded.Terms)
}

// merge merges the absorbed rows into one with the span merged.
func (p Place) merge(rows []Row, absorbed []int, merged instance.Span) (into Row, err error) {
	if len(absorbed) == 0 {
		key, err := p.Table.Insert(merged)
		return Row{Key: key, Span: merged}, err
	}
	into = rows[absorbed[0]]
	for _, i := range absorbed[1:] {
		from := rows[i]
		better := from.Summary != nil && from.Summary.Beats(into.Summary)
		if err := p.Table.Absorb(into.Key, from.Key, better); err != nil {
			return into, err
		}
		if better {
			into.Summary = from.Summary
		}
	}
	if merged != into.Span {
		moved := merged.Start != into.Span.Start
		into.Span = merged
		err = p.Table.Stretch(into.Key, merged, moved)
	}
	return into, err
}

// borders are the neighbours of a row that grew; nil without one, or if the row
// did not grow on that side.
type borders struct{ previous, next *Row }

// bordersOf returns the neighbours of merged among rows, on the sides on which merged extends
// beyond the absorbed rows.
func bordersOf(rows []Row, absorbed []int, merged instance.Span) (b borders) {
	start, end := merged.End+1, merged.Start-1
	for _, i := range absorbed {
		start, end = min(start, rows[i].Span.Start), max(end, rows[i].Span.End)
	}
	for i := range rows {
		switch r := &rows[i]; {
		case r.Span.End < merged.Start && merged.Start < start:
			b.previous = r
		case r.Span.Start > merged.End && merged.End > end && b.next == nil:
			b.next = r
		}
	}
	return b
}

func (b borders) own(row instance.Span) instance.Span {
	return instance.Annotations(spanOf(b.previous), row, spanOf(b.next))
}

func spanOf(r *Row) *instance.Span {
	if r == nil {
		return nil
	}
	return &r.Span
}

// annotate assigns the annotations to a row that grew: unattached ones, and those that its
// neighbours owned.
func (p Place) annotate(row Row, b borders) error {
	own := b.own(row.Span)
	sessions, err := p.Table.Attach(own)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := p.Table.Participate(row.Key, session); err != nil {
			return err
		}
	}
	var moved bool
	if b.previous != nil { // it owned annotations up to a day after its end
		if moved, err = p.share(*b.previous, instance.Span{Start: b.previous.Span.End + 1, End: own.End}); err != nil {
			return err
		}
	}
	if b.next != nil { // it owned annotations before its start
		also, err := p.share(*b.next, instance.Span{Start: row.Span.End + 1, End: b.next.Span.Start - 1})
		if err != nil {
			return err
		}
		moved = moved || also
	}
	if !moved {
		return nil
	}
	return p.recount(row)
}

// share recounts the participants of a neighbour if there are annotations in between that it may
// have owned. It reports whether there are.
func (p Place) share(neighbour Row, between instance.Span) (bool, error) {
	found, err := p.Table.Annotated(between)
	if err != nil || !found {
		return false, err
	}
	return true, p.recount(neighbour)
}

func (p Place) recount(row Row) error {
	rows, err := p.Table.Around(Beside(row.Span))
	if err != nil {
		return err
	}
	return p.Table.Recount(row.Key, row.Span, Own(row, rows))
}

// Annotation adds an annotation of a session about a time.
func (p Place) Annotation(session, at int64) error {
	rows, err := p.Table.Around(Owners(at))
	if err != nil {
		return err
	}
	if row, ok := Find(rows, at); ok {
		return p.Table.Participate(row.Key, session)
	}
	return p.Table.Detach(session, at)
}

// PutSummary writes a summary to the row that joins its span, the nearest to its start
// if there are several, unless that has a better one. It reports whether there is a row.
func (p Place) PutSummary(s *Summary) (found bool, err error) {
	rows, err := p.Table.Around(widen(s.Span))
	if err != nil {
		return false, err
	}
	var best *Row
	for i := range rows {
		r := &rows[i]
		if r.Span.Joins(s.Span) && (best == nil || r.Span.Distance(s.Span.Start) < best.Span.Distance(s.Span.Start)) {
			best = r
		}
	}
	if best == nil || !s.Beats(best.Summary) {
		return best != nil, nil
	}
	return true, p.Table.PutSummary(best.Key, s)
}

func spans(rows []Row) []instance.Span {
	out := make([]instance.Span, len(rows))
	for i, r := range rows {
		out[i] = r.Span
	}
	return out
}
