// Package join decides which conferences records belong to, over the rows of an engine.
// Package instance joins spans; this package keeps rows in step with it.
//
// Rows of one place always lie more than instance.Gap apart:
//   - rows with activity are what package instance makes of the times of activity;
//   - a record that is not activity belongs to the row with activity whose span, widened
//     by the gap, holds its conferenceAt; to the nearest if there are two, to the earlier
//     if both are as near;
//   - what belongs to none is joined among itself, into rows without activity. These
//     are dissolved when activity comes near.
//
// So the rows depend on what is in the store alone, not on the order in which it came.
//
// A row's terms, by which it is found, go with it: those of its participants' sessions as
// long as they take part, those that records of activity say for good, for activity never
// leaves its conference. So do the renames of its participants, which records of activity say.
package join

import (
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Row is what joining needs of a conference's row.
type Row struct {
	Key      int64
	Span     instance.Span
	Activity bool
	Packed   bool   // all its activity is in chunks; engines that do not pack leave it false
	Summary  *Order // nil without a summary
}

// Visit says that a session has a record, which is not activity, about a time.
type Visit struct{ Session, At int64 }

// Table is the rows and frames of one place, inside one transaction. Frames are written
// before they are joined.
type Table interface {
	// Near returns the rows that overlap a span widened by margin, in order of time.
	Near(span instance.Span, margin int64) ([]Row, error)
	// Insert makes a row and returns its key.
	Insert(span instance.Span, activity bool) (int64, error)
	// Stretch gives a row another span. Its terms stand at its start: moved says that this
	// is another.
	Stretch(key int64, span instance.Span, moved bool) error
	// Loosen says of a row that was packed that it has loose activity again.
	Loosen(key int64) error
	// Participate adds a session and its terms to a row, if they are not there.
	Participate(key, session int64) error
	// Tell adds terms that records of activity say to a row, if they are not there.
	Tell(key int64, terms []term.Term) error
	// Rename adds renames of a session's user to a row, if they are not there, and keeps the
	// newest term.MaxRenames of that session.
	Rename(key, session int64, renames []term.Rename) error
	// Swallow moves participants, terms and renames, and the summary where summary says so, to the
	// row into and deletes the row from.
	Swallow(into, from int64, summary bool) error
	// Delete deletes a row, its participants, its terms and its renames.
	Delete(key int64) error
	// Summary returns the summary of a row that has one.
	Summary(key int64) (*Summary, error)
	// PutSummary writes the summary of a row.
	PutSummary(key int64, s *Summary) error
	// Others returns the records that are not activity in a span, each visit once.
	Others(span instance.Span) ([]Visit, error)
	// OthersBetween says whether there are any after one time and before another.
	OthersBetween(after, before int64) (bool, error)
	// Recount works out the participants of a row, and their terms, from the frames and the
	// chunks: activity in span, others in own.
	Recount(key int64, span, own instance.Span) error
}

// Place joins records and summaries into the rows of a table.
type Place struct{ Table Table }

// Activity adds activity of a session, and what it says: it extends, merges or makes a row.
func (p Place) Activity(session int64, span instance.Span, said term.Said) error {
	// Twice the gap, to see also the rows with which it shares what is not activity.
	rows, err := p.Table.Near(span, 2*instance.Gap)
	if err != nil {
		return err
	}
	active, idle := split(rows)
	merged, swallowed := instance.Merge(spans(active), span)
	if len(swallowed) == 1 && merged == active[swallowed[0]].Span {
		return p.takePart(active[swallowed[0]], session, said) // nothing but one more record
	}
	row, err := p.merge(active, swallowed, merged, true)
	if err != nil {
		return err
	}
	if err := p.takePart(row, session, said); err != nil {
		return err
	}
	if err := p.dissolve(merged, idle); err != nil {
		return err
	}
	if len(active) == len(swallowed) {
		return nil // no neighbours
	}
	return p.shareAgain(merged)
}

// takePart adds activity of a session to a row, which is loose.
func (p Place) takePart(row Row, session int64, said term.Said) error {
	if row.Packed {
		if err := p.Table.Loosen(row.Key); err != nil {
			return err
		}
	}
	if err := p.Table.Participate(row.Key, session); err != nil {
		return err
	}
	if len(said.Renames) > 0 {
		if err := p.Table.Rename(row.Key, session, said.Renames); err != nil {
			return err
		}
	}
	if len(said.Terms) == 0 {
		return nil
	}
	return p.Table.Tell(row.Key, said.Terms)
}

// Other adds a record of a session that is not activity.
func (p Place) Other(session, at int64) error {
	row, err := p.otherRow(instance.At(at))
	if err != nil {
		return err
	}
	return p.Table.Participate(row.Key, session)
}

// PutSummary writes a summary to the row that joins its span, the nearest to its start
// if there are several, unless a better one is there. Where there is no row it makes one.
func (p Place) PutSummary(s *Summary) error {
	row, err := p.otherRow(s.Span)
	if err != nil || !s.Beats(row.Summary) {
		return err
	}
	return p.Table.PutSummary(row.Key, s)
}

// otherRow returns the row for what is not activity: the row with activity that owns it,
// or a row without.
func (p Place) otherRow(span instance.Span) (Row, error) {
	rows, err := p.Table.Near(span, instance.Gap)
	if err != nil {
		return Row{}, err
	}
	active, idle := split(rows)
	if i := nearest(active, span.Start); i >= 0 {
		return active[i], nil
	}
	merged, swallowed := instance.Merge(spans(idle), span)
	return p.merge(idle, swallowed, merged, false)
}

// merge makes one row of those swallowed, with the span merged.
func (p Place) merge(rows []Row, swallowed []int, merged instance.Span, activity bool) (into Row, err error) {
	if len(swallowed) == 0 {
		key, err := p.Table.Insert(merged, activity)
		return Row{Key: key, Span: merged, Activity: activity}, err
	}
	into = rows[swallowed[0]]
	for _, i := range swallowed[1:] {
		from := rows[i]
		better := from.Summary != nil && from.Summary.Beats(into.Summary)
		if err := p.Table.Swallow(into.Key, from.Key, better); err != nil {
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

// dissolve takes rows without activity apart that activity has come near to: what joins
// it goes to its row, the rest stays by itself.
func (p Place) dissolve(span instance.Span, idle []Row) error {
	for _, row := range idle {
		if !row.Span.Joins(span) {
			continue
		}
		if err := p.dissolveRow(row); err != nil {
			return err
		}
	}
	return nil
}

func (p Place) dissolveRow(row Row) error {
	var summary *Summary
	if row.Summary != nil {
		var err error
		if summary, err = p.Table.Summary(row.Key); err != nil {
			return err
		}
	}
	if err := p.Table.Delete(row.Key); err != nil {
		return err
	}
	visits, err := p.Table.Others(row.Span)
	if err != nil {
		return err
	}
	for _, v := range visits {
		if err := p.Other(v.Session, v.At); err != nil {
			return err
		}
	}
	if summary == nil {
		return nil
	}
	return p.PutSummary(summary)
}

// shareAgain works out anew who took part in the rows around span, where records that
// are not activity lie between two rows and may belong to the other one now.
func (p Place) shareAgain(span instance.Span) error {
	rows, err := p.Table.Near(span, 2*instance.Gap)
	if err != nil {
		return err
	}
	active, _ := split(rows)
	for i := 1; i < len(active); i++ {
		found, err := p.Table.OthersBetween(active[i-1].Span.End, active[i].Span.Start)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		for _, row := range active[i-1 : i+1] {
			if err := p.recount(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p Place) recount(row Row) error {
	rows, err := p.Table.Near(row.Span, 2*instance.Gap)
	if err != nil {
		return err
	}
	return p.Table.Recount(row.Key, row.Span, Zone(row, rows))
}

func split(rows []Row) (active, idle []Row) {
	for _, r := range rows {
		if r.Activity {
			active = append(active, r)
		} else {
			idle = append(idle, r)
		}
	}
	return active, idle
}

func spans(rows []Row) []instance.Span {
	out := make([]instance.Span, len(rows))
	for i, r := range rows {
		out[i] = r.Span
	}
	return out
}
