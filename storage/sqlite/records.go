package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Records implements storage.Reader. Records that arrive meanwhile are seen if they are
// later than what was handed out. No read transaction stays open while the caller works,
// for that would keep the log from being folded into the file.
func (s *Store) Records(ctx context.Context, ref storage.Ref, yield func(sessionID string, r storage.Record) bool) error {
	if err := s.records(ctx, ref, yield); err != nil {
		return s.wrap("read records", err)
	}
	return nil
}

func (s *Store) records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	var at sqlstore.Located
	err := s.database().View(ctx, func(tx sqlstore.Tx) (err error) {
		at, err = sqlstore.Find(tx, ref)
		return err
	})
	if err != nil {
		return err
	}
	read := frames.Read{
		ConferenceID: ref.ConferenceID, Span: at.Span, Open: s.openChunk,
		Activity: func(ctx context.Context, from frames.Position, limit int) (frames.Page, error) {
			return s.activity(ctx, at, from, limit)
		},
		Other: func(ctx context.Context, from frames.Position, limit int) (frames.Page, error) {
			rows, err := readRows(ctx, s.read, otherPage, at.Place, at.Own, from, limit)
			return frames.Page{Rows: rows}, err
		},
	}
	return read.Records(ctx, yield)
}

// The pages are in order of (at, session, seq, idx). SQLite sorts only what has the same
// time in the first, for which the index gives the order of at.
const (
	pageColumns = `SELECT f.at, s.key, s.id, f.seq, f.idx, f.n, f.activity, f.conference_at, f.observed_at, f.fabric, f.body`
	pageOrder   = ` AND f.at >= ?4 AND (f.at, s.id, f.seq, f.idx) > (?4, ?5, ?6, ?7) ORDER BY f.at, s.id, f.seq, f.idx LIMIT ?8`

	activityPage = pageColumns + ` FROM frame f INDEXED BY frame_activity CROSS JOIN session s ON s.key = f.session
		WHERE f.activity = 1 AND f.place = ?1 AND f.at BETWEEN ?2 AND ?3` + pageOrder
	otherPage = pageColumns + ` FROM frame f INDEXED BY frame_other CROSS JOIN session s ON s.key = f.session
		WHERE NOT f.activity AND f.place = ?1 AND f.conference_at BETWEEN ?2 AND ?3` + pageOrder
)

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readRows reads a page of rows; more are the query's arguments from ?9 on.
func readRows(ctx context.Context, q querier, query string, place int64, span instance.Span, from frames.Position, limit int, more ...any) (out []frames.ReadRow, err error) {
	args := append([]any{place, span.Start, span.End, from.At, from.Session[:], from.Seq, from.Idx, limit}, more...)
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	out = make([]frames.ReadRow, 0, limit)
	err = eachRow(rows, func(row scanner) error {
		r, err := sqlstore.ScanFrame(row)
		out = append(out, r)
		return err
	})
	return out, err
}

// activity reads a page of loose rows, and the chunks that go with it.
func (s *Store) activity(ctx context.Context, at sqlstore.Located, from frames.Position, limit int) (page frames.Page, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		if page.Rows, err = readRows(ctx, tx, activityPage, at.Place, at.Span, from, limit); err != nil {
			return err
		}
		until := at.Span.End
		if len(page.Rows) == limit {
			until = page.Rows[limit-1].At
		}
		page.Chunks, err = listChunks(ctx, tx, at, from.At, until)
		return err
	})
	return page, err
}

// chunkList starts where the conference starts now: it may have merged with an earlier one
// since it was found, and been packed with it.
const chunkList = `SELECT key, from_ms, to_ms FROM chunk INDEXED BY chunk_place WHERE place = ?1
	AND from_ms BETWEEN coalesce((SELECT max(start_ms) FROM conference WHERE place = ?1 AND start_ms <= ?2), ?2) AND ?3
	AND to_ms >= ?4 ORDER BY from_ms`

// listChunks returns the chunks that may hold records from a time on, and begin until
// another.
func listChunks(ctx context.Context, tx *sql.Tx, at sqlstore.Located, from, until int64) (out []frames.ChunkSpan, err error) {
	rows, err := tx.QueryContext(ctx, chunkList, at.Place, at.Span.Start, until, max(from, at.Span.Start))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c frames.ChunkSpan
		if err := rows.Scan(&c.Key, &c.From, &c.To); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// openChunk reads one chunk.
func (s *Store) openChunk(ctx context.Context, key int64) (frames.Packed, error) {
	var body []byte
	err := s.read.QueryRowContext(ctx, `SELECT body FROM chunk WHERE key = ?`, key).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, frames.ErrGone
	}
	if err != nil {
		return nil, err
	}
	return chunk.Decode(body)
}
