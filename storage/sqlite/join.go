package sqlite

import (
	"database/sql"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/join"
)

// table is the rows of one place for package join.
type table struct {
	t     *tx
	place int64
}

// aroundRows finds the rows that join.Table.Around returns. The reader stops after the first
// that starts behind its span: every frame asks, and one search of the index is enough.
const aroundRows = ` FROM conference INDEXED BY conference_place WHERE place = ?1
	AND start_ms >= coalesce((SELECT max(start_ms) FROM conference WHERE place = ?1 AND start_ms <= ?2), ?2) ORDER BY start_ms`

// Around implements join.Table.
func (p table) Around(span instance.Span) (rows []join.Row, err error) {
	err = p.t.each(func(row scanner) error {
		var c join.Row
		var revision, start, end sql.NullInt64
		if err := row.Scan(&c.Key, &c.Span.Start, &c.Span.End, &c.Packed, &revision, &start, &end); err != nil {
			return err
		}
		if revision.Valid {
			c.Summary = &join.Order{Revision: revision.Int64, Span: instance.Span{Start: start.Int64, End: end.Int64}}
		}
		rows = append(rows, c)
		if c.Span.Start > span.End {
			return errStop
		}
		return nil
	}, `SELECT key, start_ms, end_ms, packed, revision, summary_start, summary_end`+aroundRows, p.place, span.Start)
	return rows, err
}

// Insert implements join.Table.
func (p table) Insert(span instance.Span) (key int64, err error) {
	err = p.t.row(`INSERT INTO conference (place, app_id, start_ms, end_ms)
		SELECT key, app_id, ?, ? FROM place WHERE key = ? RETURNING key`, span.Start, span.End, p.place).Scan(&key)
	return key, err
}

// Stretch implements join.Table.
func (p table) Stretch(key int64, span instance.Span, moved bool) error {
	err := p.t.exec(`UPDATE conference SET start_ms = ?, end_ms = ? WHERE key = ?`, span.Start, span.End, key)
	if err != nil || !moved {
		return err
	}
	return p.t.exec(`UPDATE term SET start_ms = ? WHERE conference = ?`, span.Start, key)
}

// SetLoose implements join.Table.
func (p table) SetLoose(key int64) error {
	return p.t.exec(`UPDATE conference SET packed = 0 WHERE key = ?`, key)
}

// Absorb implements join.Table.
func (p table) Absorb(into, from int64, summary bool) error {
	err := p.t.exec(`INSERT OR IGNORE INTO participant (conference, session)
		SELECT ?, session FROM participant WHERE conference = ?`, into, from)
	if err != nil {
		return err
	}
	if err := p.t.exec(moveTerms, into, from); err != nil {
		return err
	}
	delete(p.t.kept, into)
	if err := p.t.moveRenames(into, from); err != nil {
		return err
	}
	if err := p.t.exec(`UPDATE conference SET terms_dropped = terms_dropped + (SELECT f.terms_dropped FROM conference f WHERE f.key = ?) WHERE key = ?`, from, into); err != nil {
		return err
	}
	if summary {
		err := p.t.exec(`UPDATE conference SET (`+summaryColumns+`) =
			(SELECT `+summaryColumns+` FROM conference WHERE key = ?) WHERE key = ?`, from, into)
		if err != nil {
			return err
		}
	}
	return p.delete(from)
}

const moveTerms = `INSERT INTO term (term, start_ms, conference, recorded)
	SELECT t.term, c.start_ms, c.key, t.recorded FROM conference c CROSS JOIN term t WHERE c.key = ?1 AND t.conference = ?2
	ON CONFLICT DO UPDATE SET recorded = max(recorded, excluded.recorded)`

func (p table) delete(key int64) error {
	clear(p.t.written) // keys are used again
	delete(p.t.kept, key)
	return p.t.exec(`DELETE FROM conference WHERE key = ?`, key)
}

// PutSummary implements join.Table.
func (p table) PutSummary(key int64, s *join.Summary) error {
	return p.t.exec(`UPDATE conference SET revision = ?, summary_start = ?, summary_end = ?, outcome = ?,
		participants = ?, mos = ?, label = ?, cause = ?, document = ? WHERE key = ?`,
		s.Revision, s.Span.Start, s.Span.End, s.Outcome, s.Participants, s.MOS, s.Label, s.Cause, s.Document, key)
}

// Annotated implements join.Table.
func (p table) Annotated(span instance.Span) (found bool, err error) {
	err = p.t.row(`SELECT EXISTS (SELECT 1 FROM frame WHERE NOT activity AND place = ? AND conference_at BETWEEN ? AND ?)`,
		p.place, span.Start, span.End).Scan(&found)
	return found, err
}

const recount = `INSERT INTO participant (conference, session)
	SELECT ?1, session FROM frame WHERE activity = 1 AND place = ?2 AND at BETWEEN ?3 AND ?4
	UNION SELECT ?1, p.session FROM chunk c CROSS JOIN packed p ON p.chunk = c.key WHERE c.place = ?2 AND c.from_ms BETWEEN ?3 AND ?4
	UNION SELECT ?1, session FROM frame WHERE NOT activity AND place = ?2 AND conference_at BETWEEN ?5 AND ?6`

// Recount implements join.Table.
func (p table) Recount(key int64, span, own instance.Span) error {
	if err := p.t.exec(`DELETE FROM participant WHERE conference = ?`, key); err != nil {
		return err
	}
	if err := p.t.exec(recount, key, p.place, span.Start, span.End, own.Start, own.End); err != nil {
		return err
	}
	return p.t.rebuildTerms(key)
}
