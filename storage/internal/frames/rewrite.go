package frames

import "github.com/qosrtc/qos/storage/internal/term"

// Change modifies the attributes of one record, and reports whether it did.
type Change func(name string, attributes map[string]any) bool

// Rewrite changes the records of a row. If any has changed, it replaces the row's Body and
// Recorded, and returns true.
func (r *Row) Rewrite(app string, change Change) (changed bool, err error) {
	name, records, err := r.Decode()
	if err != nil {
		return false, err
	}
	for _, attributes := range records {
		changed = change(name, attributes) || changed
	}
	if !changed {
		return false, nil
	}
	e := encoder{}
	if r.N, r.Body, err = e.row(name, records); err != nil {
		return false, err
	}
	if r.Activity {
		r.Recorded = recorded(app, name, r.Seq, r.Idx, records)
	}
	return true, nil
}

// recorded returns the terms and renames that a row of activity adds to its conference.
func recorded(app, name string, seq int64, idx int, records []attributes) (out term.Recorded) {
	terms := term.NewReader(app)
	for i, attributes := range records {
		out.Add(term.Recorded{Terms: terms.OfRecord(name, attributes)})
		if to, ok := term.RenamedTo(name, attributes); ok {
			out.Renames = append(out.Renames, term.Rename{Seq: seq, Idx: idx + i, Name: to})
		}
	}
	return out
}
