package sqlstore

import (
	"context"
	"time"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Records implements storage.Reader. It yields records that arrive meanwhile if they are after the last
// record yielded. It holds no connection while yield runs.
func (l Lists) Records(ctx context.Context, ref storage.Ref, yield func(sessionID string, r storage.Record) bool) error {
	return l.readRecords(ctx, ref, frames.FromAll, yield)
}

// RecordsFrom implements storage.Reader.
func (l Lists) RecordsFrom(ctx context.Context, ref storage.Ref, from time.Time, yield func(sessionID string, r storage.Record) bool) error {
	return l.readRecords(ctx, ref, frames.CeilMs(from), yield)
}

func (l Lists) readRecords(ctx context.Context, ref storage.Ref, from int64, yield func(sessionID string, r storage.Record) bool) error {
	if err := l.records(ctx, ref, from, yield); err != nil {
		return l.db.Wrap("read records", err)
	}
	return nil
}

func (l Lists) records(ctx context.Context, ref storage.Ref, from int64, yield func(string, storage.Record) bool) error {
	var at Located
	var days Days
	err := l.db.View(ctx, func(tx Tx) (err error) {
		if at, err = Find(tx, ref); err == nil {
			days, err = tx.Days(at.Place, at.Span)
		}
		return err
	})
	if err != nil {
		return err
	}
	read := frames.Read{
		ConferenceID: ref.ConferenceID, Span: at.Span, From: from,
		Activity: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = l.db.View(ctx, func(tx Tx) (err error) {
				page, err = activity(tx, at, days, from, limit)
				return err
			})
			return page, err
		},
		Other: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = l.db.Read(ctx, func(tx Tx) (err error) {
				page.Rows, err = rows(tx, OtherRows, at.Place, at.Own, days, from, limit)
				return err
			})
			return page, err
		},
		Open: func(ctx context.Context, key int64) (frames.Packed, error) {
			return l.openChunk(ctx, at.Place, key, days)
		},
	}
	return read.Records(ctx, yield)
}

// The statements of records. Rows are in order of (at, session, seq, idx).
const (
	ActivityRows = selectRows + `{by frame_activity} {join} {table session} s ON s.key = f.session
		WHERE f.place = ? AND f.activity AND f.at BETWEEN ? AND ?` + rowsAfter
	OtherRows = selectRows + `{by frame_other} {join} {table session} s ON s.key = f.session
		WHERE f.place = ? AND NOT f.activity AND f.conference_at BETWEEN ? AND ?` + rowsAfter

	selectRows = `SELECT ` + frameColumns + ` FROM {table frame} f `
	rowsAfter  = ` {indays f} AND f.at >= ? AND (f.at, s.id, f.seq, f.idx) > (?, ?, ?, ?) ORDER BY f.at, s.id, f.seq, f.idx LIMIT ?`

	// ChunkList starts at the current start of the conference, which may have merged with an earlier one
	// since it was found, and been packed with it.
	ChunkList = `SELECT h.key, h.from_ms, h.to_ms FROM {table chunk} h {by chunk_place} WHERE h.place = ? {indays h}
		AND h.from_ms BETWEEN coalesce((SELECT max(c.start_ms) FROM {table conference} c WHERE c.place = ? AND c.start_ms <= ?), ?) AND ?
		AND h.to_ms >= ? ORDER BY h.from_ms`
)

// LooseRows returns rows of activity of a conferenceID in a span after a position, at most limit.
func LooseRows(tx Tx, place int64, span instance.Span, days Days, from frames.Position, limit int) ([]frames.ReadRow, error) {
	return rows(tx, ActivityRows, place, span, days, from, limit)
}

func rows(tx Tx, statement string, place int64, span instance.Span, days Days, from frames.Position, limit int) ([]frames.ReadRow, error) {
	return All(tx, ScanFrame, statement, place, span.Start, span.End, days, from.At, from.At, from.Session[:], from.Seq, from.Idx, limit)
}

// activity reads a page of loose rows and the chunks that overlap it, in one snapshot: a row that is
// packed meanwhile is in one of them.
func activity(tx Tx, at Located, days Days, from frames.Position, limit int) (page frames.Page, err error) {
	if page.Rows, err = LooseRows(tx, at.Place, at.Span, days, from, limit); err != nil {
		return page, err
	}
	until := at.Span.End
	if len(page.Rows) == limit {
		until = page.Rows[limit-1].At
	}
	page.Chunks, err = All(tx, func(row Row) (c frames.ChunkSpan, err error) {
		err = row.Scan(&c.Key, &c.From, &c.To)
		return c, err
	}, ChunkList, at.Place, days, at.Place, at.Span.Start, at.Span.Start, until, max(from.At, at.Span.Start))
	return page, err
}

// openChunk reads and decodes one chunk.
func (l Lists) openChunk(ctx context.Context, place, key int64, days Days) (frames.Packed, error) {
	var body []byte
	var found bool
	err := l.db.Read(ctx, func(tx Tx) (err error) {
		found, err = One(tx, []any{&body}, `SELECT h.body FROM {table chunk} h WHERE h.place = ? AND h.key = ? {indays h}`, place, key, days)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, frames.ErrGone
	}
	return chunk.Decode(body)
}
