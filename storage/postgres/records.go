package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Records implements storage.Reader. Records that arrive meanwhile are seen if they are
// later than what was handed out. No connection is held while the caller works.
func (s *Store) Records(ctx context.Context, ref storage.Ref, yield func(sessionID string, r storage.Record) bool) error {
	if err := s.records(ctx, ref, yield); err != nil {
		return s.wrap("read records", err)
	}
	return nil
}

func (s *Store) records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	var at located
	err := s.database().View(ctx, func(tx sqlstore.Tx) (err error) {
		if at.Located, err = sqlstore.Find(tx, ref); err == nil {
			at.days, err = placeDays(tx, at.Place, at.Span)
		}
		return err
	})
	if err != nil {
		return err
	}
	read := frames.Read{
		ConferenceID: ref.ConferenceID, Span: at.Span,
		Activity: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
				page, err = readActivity(ctx, conn, at, from, limit)
				return err
			})
			return page, err
		},
		Other: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				b := &pgx.Batch{}
				queuePage(b, otherPage, at, at.Own, from, limit, &page.Rows)
				return conn.SendBatch(ctx, b).Close()
			})
			return page, err
		},
		Open: func(ctx context.Context, key int64) (frames.Packed, error) {
			return s.openChunk(ctx, at.Place, key, at.days)
		},
	}
	return read.Records(ctx, yield)
}

// The pages are in order of (at, session, seq, idx).
const (
	pageSelect  = `SELECT f.at, s.key, s.id, f.seq, f.idx, f.n, f.activity, f.conference_at, f.observed_at, f.fabric, f.body FROM `
	pageJoin    = ` f JOIN qos_session s ON s.key = f.session`
	pageOrder   = ` ORDER BY f.at, s.id, f.seq, f.idx`
	pageColumns = pageSelect + `qos_frame` + pageJoin + ` WHERE f.place = $1 AND f.day = ANY ($4::int[])`
	pageFrom    = ` AND f.at >= $5 AND (f.at, s.id, f.seq, f.idx) > ($5, $6, $7, $8)` + pageOrder + ` LIMIT $9`

	activityPage = pageColumns + ` AND f.activity AND f.at BETWEEN $2 AND $3` + pageFrom
	otherPage    = pageColumns + ` AND NOT f.activity AND f.conference_at BETWEEN $2 AND $3` + pageFrom

	// chunkList starts where the conference starts now: it may have merged with an earlier
	// one since it was found, and been packed with it.
	chunkList = `SELECT key, from_ms, to_ms FROM qos_chunk WHERE place = $1 AND day = ANY ($5::int[])
		AND from_ms BETWEEN coalesce((SELECT max(start_ms) FROM qos_conference WHERE place = $1 AND start_ms <= $2), $2) AND $3
		AND to_ms >= $4 ORDER BY from_ms`
)

// queuePage reads rows. More are the query's arguments from $10 on.
func queuePage(b *pgx.Batch, query string, at located, span instance.Span, from frames.Position, limit int, out *[]frames.ReadRow, more ...any) {
	args := append([]any{at.Place, span.Start, span.End, at.days, from.At, from.Session[:], from.Seq, from.Idx, limit}, more...)
	b.Queue(query, args...).Query(func(rows pgx.Rows) (err error) {
		*out, err = pgx.CollectRows(rows, scanFrame)
		return err
	})
}

// readActivity reads a page of loose rows and the chunks that go with it, as one moment
// saw them: a row that is packed meanwhile is in one of them.
func readActivity(ctx context.Context, conn *pgx.Conn, at located, from frames.Position, limit int) (page frames.Page, err error) {
	b := &pgx.Batch{}
	b.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
	queuePage(b, activityPage, at, at.Span, from, limit, &page.Rows)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return page, err
	}
	until := at.Span.End
	if len(page.Rows) == limit {
		until = page.Rows[limit-1].At
	}
	b = &pgx.Batch{}
	b.Queue(chunkList, at.Place, at.Span.Start, until, max(from.At, at.Span.Start), at.days).Query(func(rows pgx.Rows) (err error) {
		page.Chunks, err = pgx.CollectRows(rows, pgx.RowToStructByPos[frames.ChunkSpan])
		return err
	})
	b.Queue(`COMMIT`)
	err = conn.SendBatch(ctx, b).Close()
	return page, err
}

func scanFrame(row pgx.CollectableRow) (r frames.ReadRow, err error) {
	err = row.Scan(&r.At, &r.SessionKey, &r.Session, &r.Seq, &r.Idx, &r.N, &r.Activity, &r.ConferenceAt, &r.ObservedAt, &r.Fabric, &r.Body)
	return r, err
}

// openChunk reads one chunk of a place and of some days.
func (s *Store) openChunk(ctx context.Context, place, key int64, days []int32) (frames.Packed, error) {
	var body []byte
	err := s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT body FROM qos_chunk WHERE place = $1 AND key = $2 AND day = ANY ($3::int[])`, place, key, days).Scan(&body)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, frames.ErrGone
	}
	if err != nil {
		return nil, err
	}
	return chunk.Decode(body)
}
