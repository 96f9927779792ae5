package sqlite

import (
	"database/sql"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// table implements join.Table for one conferenceID.
type table struct {
	t     *tx
	place int64
}

// aroundRows selects the rows that join.Table.Around returns. The caller stops after the first
// that starts after its span, so that one index search is enough for each frame.
const aroundRows = ` FROM conference INDEXED BY conference_place WHERE place = ?1
	AND start_ms >= coalesce((SELECT max(start_ms) FROM conference WHERE place = ?1 AND start_ms <= ?2), ?2) ORDER BY start_ms`

// newestRow is the conference under a conferenceID that starts last.
type newestRow struct {
	join.Row
	from int64 // Around returns only this row for a span that starts then or later
}

// Around implements join.Table. Most frames extend the newest conference of their conferenceID, which is cached.
func (p table) Around(span instance.Span) (rows []join.Row, err error) {
	if last, ok := p.t.newest[p.place]; ok && last.from <= span.Start {
		return []join.Row{last.Row}, nil
	}
	stopped := false
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
		if stopped = c.Span.Start > span.End; stopped {
			return errStop
		}
		return nil
	}, `SELECT key, start_ms, end_ms, packed, revision, summary_start, summary_end`+aroundRows, p.place, span.Start)
	if err == nil && !stopped && len(rows) > 0 {
		p.cacheNewest(rows, span.Start)
	}
	return rows, err
}

// cacheNewest caches the last of rows, which are all rows around the span from start to infinity.
func (p table) cacheNewest(rows []join.Row, start int64) {
	if len(p.t.newest) >= maxCached {
		clear(p.t.newest)
	}
	last := newestRow{Row: rows[len(rows)-1]}
	last.from = last.Span.Start
	if len(rows) == 1 { // no other starts before it
		last.from = min(last.from, start)
	}
	p.t.newest[p.place] = last
}

// Insert implements join.Table.
func (p table) Insert(span instance.Span) (key int64, err error) {
	delete(p.t.newest, p.place)
	err = p.t.row(`INSERT INTO conference (place, app_id, start_ms, end_ms)
		SELECT key, app_id, ?, ? FROM place WHERE key = ? RETURNING key`, span.Start, span.End, p.place).Scan(&key)
	return key, err
}

// Stretch implements join.Table.
func (p table) Stretch(key int64, span instance.Span, moved bool) error {
	if last := p.t.newest[p.place]; last.Key == key && !moved {
		last.Span = span
		p.t.newest[p.place] = last
	} else {
		delete(p.t.newest, p.place)
	}
	if !moved {
		return p.t.exec(`UPDATE conference SET end_ms = ? WHERE key = ?`, span.End, key)
	}
	if err := p.t.exec(`UPDATE conference SET start_ms = ?, end_ms = ? WHERE key = ?`, span.Start, span.End, key); err != nil {
		return err
	}
	return p.t.exec(`UPDATE term SET start_ms = ? WHERE conference = ?`, span.Start, key)
}

// sqlRows returns the part of join.Table that both engines share.
func (p table) sqlRows() sqlstore.Rows { return sqlstore.Rows{Tx: p.t.querier(), Place: p.place} }

// SetLoose implements join.Table.
func (p table) SetLoose(key int64) error {
	delete(p.t.newest, p.place)
	return p.sqlRows().SetLoose(key)
}

// Absorb implements join.Table.
func (p table) Absorb(into, from int64, summary bool) error {
	clear(p.t.recordTerms) // keys are reused
	delete(p.t.newest, p.place)
	delete(p.t.conferenceTerms, into)
	delete(p.t.conferenceTerms, from)
	return p.sqlRows().Absorb(into, from, summary)
}

// PutSummary implements join.Table.
func (p table) PutSummary(key int64, s *join.Summary) error {
	delete(p.t.newest, p.place)
	return p.sqlRows().PutSummary(key, s)
}

// Annotated implements join.Table.
func (p table) Annotated(span instance.Span) (bool, error) { return p.sqlRows().Annotated(span, nil) }

// Recount implements join.Table.
func (p table) Recount(key int64, span, own instance.Span) error {
	delete(p.t.conferenceTerms, key)
	sessions, err := p.sqlRows().Recount(key, span, own, nil)
	for i := 0; i < len(sessions) && err == nil; i++ {
		err = p.t.addSessionTerms(key, sessions[i])
	}
	return err
}
