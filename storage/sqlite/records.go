package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/qosrtc/qos/storage"
)

// pageRows is how many rows are read at a time. No read transaction stays open while the
// caller works on a page, for that would keep the log from being folded into the file.
const pageRows = 256

// Records implements storage.Reader. Records that arrive meanwhile are seen if they are
// later than what was handed out.
func (s *Store) Records(ctx context.Context, ref storage.Ref, yield func(sessionID string, r storage.Record) bool) error {
	if err := s.records(ctx, ref, yield); err != nil {
		return s.wrap("read records", err)
	}
	return nil
}

func (s *Store) records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	var at located
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		at, err = find(ctx, tx, ref)
		return err
	})
	if err != nil {
		return err
	}
	activity := &pager{store: s, query: activityPage, args: []any{at.place, at.span.Start, at.span.End}}
	other := &pager{store: s, query: otherPage, args: []any{at.place, at.own.Start, at.own.End}}
	for {
		a, err := activity.peek(ctx)
		if err != nil {
			return err
		}
		o, err := other.peek(ctx)
		if err != nil {
			return err
		}
		from := activity
		if a == nil || o != nil && o.before(a) {
			from = other
		}
		row := from.next()
		if row == nil {
			return nil
		}
		if goOn, err := s.yieldRow(ref.ConferenceID, row, yield); !goOn {
			return err
		}
	}
}

// yieldRow hands out the records of one row.
func (s *Store) yieldRow(conferenceID string, row *readRow, yield func(string, storage.Record) bool) (goOn bool, err error) {
	d := decoder{words: s.words.text, buf: row.body}
	name, records, err := d.decode(row.n)
	if err != nil {
		return false, fmt.Errorf("session %s, frame %d: %w", formatUUID(row.session), row.seq, err)
	}
	session := formatUUID(row.session)
	for i, attributes := range records {
		goOn := yield(session, storage.Record{
			Seq: uint64(row.seq), Index: row.idx + i, ConferenceID: conferenceID, Fabric: row.fabric, Name: name,
			ConferenceAt: fromMs(row.conferenceAt), At: fromMs(row.at), ObservedAt: fromMs(row.observedAt),
			Activity: row.activity, Attributes: attributes,
		})
		if !goOn {
			return false, nil
		}
	}
	return true, nil
}

// The pages are in order of (at, session, seq, idx). SQLite sorts only what has the same
// time in the first, for which the index gives the order of at.
const (
	pageColumns = `SELECT f.at, s.id, f.seq, f.idx, f.n, f.activity, f.conference_at, f.observed_at, f.fabric, f.body`
	pageOrder   = ` AND f.at >= ?4 AND (f.at, s.id, f.seq, f.idx) > (?4, ?5, ?6, ?7) ORDER BY f.at, s.id, f.seq, f.idx LIMIT ?8`

	activityPage = pageColumns + ` FROM frame f INDEXED BY frame_activity CROSS JOIN session s ON s.key = f.session
		WHERE f.activity = 1 AND f.place = ?1 AND f.at BETWEEN ?2 AND ?3` + pageOrder
	otherPage = pageColumns + ` FROM frame f INDEXED BY frame_other CROSS JOIN session s ON s.key = f.session
		WHERE f.activity = 0 AND f.place = ?1 AND f.conference_at BETWEEN ?2 AND ?3` + pageOrder
)

// readRow is a row of frame with its session's id.
type readRow struct {
	session []byte
	frameRow
}

func (r *readRow) before(o *readRow) bool {
	if r.at != o.at {
		return r.at < o.at
	}
	if c := string(r.session); c != string(o.session) {
		return c < string(o.session)
	}
	return r.seq < o.seq || r.seq == o.seq && r.idx < o.idx
}

// pager reads the rows of a query page by page.
type pager struct {
	store *Store
	query string
	args  []any
	rows  []readRow
	last  readRow
	begun bool
	ended bool
}

// peek returns the next row, nil at the end.
func (p *pager) peek(ctx context.Context) (*readRow, error) {
	if len(p.rows) == 0 && !p.ended {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.rows) == 0 {
		return nil, nil //nolint:nilnil // the end is no error
	}
	return &p.rows[0], nil
}

// next takes the row that peek showed.
func (p *pager) next() *readRow {
	if len(p.rows) == 0 {
		return nil
	}
	row := &p.rows[0]
	p.rows = p.rows[1:]
	return row
}

func (p *pager) read(ctx context.Context) error {
	from := &readRow{session: []byte{}, frameRow: frameRow{frameColumns: frameColumns{at: math.MinInt64}}}
	if p.begun {
		from = &p.last
	}
	rows, err := p.store.read.QueryContext(ctx, p.query, append(p.args[:3:3], from.at, from.session, from.seq, from.idx, pageRows)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	p.rows = make([]readRow, 0, pageRows)
	for rows.Next() {
		var r readRow
		err := rows.Scan(&r.at, &r.session, &r.seq, &r.idx, &r.n, &r.activity, &r.conferenceAt, &r.observedAt, &r.fabric, &r.body)
		if err != nil {
			return err
		}
		p.rows = append(p.rows, r)
	}
	if p.begun = len(p.rows) > 0; p.begun {
		p.last = p.rows[len(p.rows)-1]
	}
	p.ended = len(p.rows) < pageRows
	return rows.Err()
}
