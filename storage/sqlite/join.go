package sqlite

import (
	"database/sql"

	"github.com/qosrtc/qos/internal/instance"
)

// conferenceRow is what joining needs of a conference's row.
type conferenceRow struct {
	key      int64
	span     instance.Span
	activity bool
	summary  *summaryOrder
}

// Rows of one place always lie more than instance.Gap apart:
//   - rows with activity are what package instance makes of the times of activity;
//   - a record that is not activity belongs to the row with activity whose span, widened
//     by the gap, holds its conferenceAt; to the nearest if there are two, to the earlier
//     if both are as near;
//   - what belongs to none is joined among itself, into rows without activity. These
//     are dissolved when activity comes near.
//
// So the rows depend on what is in the store alone, not on the order in which it came.

// near returns the rows of a place that join span widened by margin, in order of time.
func (t *tx) near(place int64, span instance.Span, margin int64) (rows []conferenceRow, err error) {
	err = t.each(func(row scanner) error {
		var c conferenceRow
		var revision, start, end sql.NullInt64
		if err := row.Scan(&c.key, &c.span.Start, &c.span.End, &c.activity, &revision, &start, &end); err != nil {
			return err
		}
		if revision.Valid {
			c.summary = &summaryOrder{revision.Int64, instance.Span{Start: start.Int64, End: end.Int64}}
		}
		rows = append(rows, c)
		return nil
	}, `SELECT key, start_ms, end_ms, activity, revision, summary_start, summary_end FROM conference
		WHERE place = ? AND start_ms <= ? AND end_ms >= ? ORDER BY start_ms`,
		place, span.End+margin, span.Start-margin)
	return rows, err
}

// joinActivity adds activity of a session: it extends, merges or makes a row.
func (t *tx) joinActivity(place, session int64, span instance.Span) error {
	// Twice the gap, to see also the rows with which it shares what is not activity.
	rows, err := t.near(place, span, 2*instance.Gap)
	if err != nil {
		return err
	}
	active, idle := split(rows)
	merged, swallowed := instance.Merge(spans(active), span)
	if len(swallowed) == 1 && merged == active[swallowed[0]].span {
		return t.participant(active[swallowed[0]].key, session) // nothing but one more record
	}
	key, err := t.mergeRows(place, active, swallowed, merged, true)
	if err != nil {
		return err
	}
	if err := t.participant(key, session); err != nil {
		return err
	}
	if err := t.dissolve(place, merged, idle); err != nil {
		return err
	}
	if len(active) == len(swallowed) {
		return nil // no neighbours
	}
	return t.shareAgain(place, merged)
}

// joinOther adds a record of a session that is not activity.
func (t *tx) joinOther(place, session, at int64) error {
	key, err := t.otherRow(place, instance.At(at))
	if err != nil {
		return err
	}
	return t.participant(key, session)
}

// otherRow returns the row for what is not activity: the row with activity that owns it,
// or a row without.
func (t *tx) otherRow(place int64, span instance.Span) (key int64, err error) {
	rows, err := t.near(place, span, instance.Gap)
	if err != nil {
		return 0, err
	}
	active, idle := split(rows)
	if i := nearest(active, span.Start); i >= 0 {
		return active[i].key, nil
	}
	merged, swallowed := instance.Merge(spans(idle), span)
	return t.mergeRows(place, idle, swallowed, merged, false)
}

// mergeRows makes one row of those swallowed, with the span merged, and returns its key.
func (t *tx) mergeRows(place int64, rows []conferenceRow, swallowed []int, merged instance.Span, activity bool) (key int64, err error) {
	if len(swallowed) == 0 {
		err = t.row(`INSERT INTO conference (place, app_id, start_ms, end_ms, activity)
			SELECT key, app_id, ?, ?, ? FROM place WHERE key = ? RETURNING key`, merged.Start, merged.End, activity, place).Scan(&key)
		return key, err
	}
	into := rows[swallowed[0]]
	for _, i := range swallowed[1:] {
		if err := t.swallow(&into, rows[i]); err != nil {
			return 0, err
		}
	}
	if merged != into.span {
		err = t.exec(`UPDATE conference SET start_ms = ?, end_ms = ? WHERE key = ?`, merged.Start, merged.End, into.key)
	}
	return into.key, err
}

// swallow moves participants and the better summary of a row to another, and deletes it.
func (t *tx) swallow(into *conferenceRow, row conferenceRow) error {
	err := t.exec(`INSERT OR IGNORE INTO participant (conference, session)
		SELECT ?, session FROM participant WHERE conference = ?`, into.key, row.key)
	if err != nil {
		return err
	}
	if row.summary != nil && row.summary.beats(into.summary) {
		into.summary = row.summary
		if err := t.copySummary(into.key, row.key); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM conference WHERE key = ?`, row.key)
}

// dissolve takes rows without activity apart that activity has come near to: what joins
// it goes to its row, the rest stays by itself.
func (t *tx) dissolve(place int64, span instance.Span, idle []conferenceRow) error {
	for _, row := range idle {
		if !row.span.Joins(span) {
			continue
		}
		if err := t.dissolveRow(place, row); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) dissolveRow(place int64, row conferenceRow) error {
	var summary *storedSummary
	if row.summary != nil {
		var err error
		if summary, err = t.readSummary(row.key); err != nil {
			return err
		}
	}
	if err := t.exec(`DELETE FROM conference WHERE key = ?`, row.key); err != nil {
		return err
	}
	type visit struct{ session, at int64 }
	var visits []visit
	err := t.each(func(r scanner) error {
		var v visit
		err := r.Scan(&v.session, &v.at)
		visits = append(visits, v)
		return err
	}, `SELECT DISTINCT session, conference_at FROM frame
		WHERE activity = 0 AND place = ? AND conference_at BETWEEN ? AND ?`, place, row.span.Start, row.span.End)
	if err != nil {
		return err
	}
	for _, v := range visits {
		if err := t.joinOther(place, v.session, v.at); err != nil {
			return err
		}
	}
	if summary == nil {
		return nil
	}
	return t.putSummary(place, summary)
}

// shareAgain works out anew who took part in the rows around span, where records that
// are not activity lie between two rows and may belong to the other one now.
func (t *tx) shareAgain(place int64, span instance.Span) error {
	rows, err := t.near(place, span, 2*instance.Gap)
	if err != nil {
		return err
	}
	active, _ := split(rows)
	for i := 1; i < len(active); i++ {
		var found bool
		err := t.row(`SELECT EXISTS (SELECT 1 FROM frame WHERE activity = 0 AND place = ? AND conference_at > ? AND conference_at < ?)`,
			place, active[i-1].span.End, active[i].span.Start).Scan(&found)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		for _, row := range active[i-1 : i+1] {
			if err := t.countParticipants(place, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// countParticipants works out a row's participants from the frames.
func (t *tx) countParticipants(place int64, c conferenceRow) error {
	rows, err := t.near(place, c.span, 2*instance.Gap)
	if err != nil {
		return err
	}
	own := zone(c, rows)
	if err := t.exec(`DELETE FROM participant WHERE conference = ?`, c.key); err != nil {
		return err
	}
	return t.exec(`INSERT INTO participant (conference, session)
		SELECT ?1, session FROM frame WHERE activity = 1 AND place = ?2 AND at BETWEEN ?3 AND ?4
		UNION SELECT ?1, session FROM frame WHERE activity = 0 AND place = ?2 AND conference_at BETWEEN ?5 AND ?6`,
		c.key, place, c.span.Start, c.span.End, own.Start, own.End)
}

func (t *tx) participant(conference, session int64) error {
	return t.exec(`INSERT OR IGNORE INTO participant (conference, session) VALUES (?, ?)`, conference, session)
}

func split(rows []conferenceRow) (active, idle []conferenceRow) {
	for _, r := range rows {
		if r.activity {
			active = append(active, r)
		} else {
			idle = append(idle, r)
		}
	}
	return active, idle
}

func spans(rows []conferenceRow) []instance.Span {
	out := make([]instance.Span, len(rows))
	for i, r := range rows {
		out[i] = r.span
	}
	return out
}

// nearest returns the row, in order of time, that is nearest to a moment, the earlier of
// two that are as near; -1 when there is none.
func nearest(rows []conferenceRow, at int64) int {
	best := -1
	for i, r := range rows {
		if best < 0 || distance(r.span, at) < distance(rows[best].span, at) {
			best = i
		}
	}
	return best
}

func distance(s instance.Span, at int64) int64 { return max(s.Start-at, at-s.End, 0) }

// zone returns the times whose records that are not activity belong to c. rows are all
// rows within twice the gap of it, in order of time.
func zone(c conferenceRow, rows []conferenceRow) instance.Span {
	if !c.activity {
		return c.span
	}
	own := instance.Span{Start: c.span.Start - instance.Gap, End: c.span.End + instance.Gap}
	for _, r := range rows {
		switch {
		case !r.activity:
		case r.span.End < c.span.Start:
			own.Start = max(own.Start, (r.span.End+c.span.Start)/2+1)
		case r.span.Start > c.span.End:
			own.End = min(own.End, (c.span.End+r.span.Start)/2)
		}
	}
	return own
}
