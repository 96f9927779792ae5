package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
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
	err := s.view(ctx, func(tx pgx.Tx) (err error) {
		at, err = find(ctx, tx, ref)
		return err
	})
	if err != nil {
		return err
	}
	activity, other := s.page(activityPage, at, at.Span), s.page(otherPage, at, at.own)
	read := frames.Read{Words: s.words, ConferenceID: ref.ConferenceID, Span: at.Span, Activity: activity, Other: other}
	return read.Records(ctx, yield)
}

// The pages are in order of (at, session, seq, idx).
const (
	pageColumns = `SELECT f.at, s.id, f.seq, f.idx, f.n, f.activity, f.conference_at, f.observed_at, f.fabric, f.body
		FROM qos_frame f JOIN qos_session s ON s.key = f.session WHERE f.place = $1 AND f.day = ANY ($4::int[])`
	pageOrder = ` AND f.at >= $5 AND (f.at, s.id, f.seq, f.idx) > ($5, $6, $7, $8) ORDER BY f.at, s.id, f.seq, f.idx LIMIT $9`

	activityPage = pageColumns + ` AND f.activity AND f.at BETWEEN $2 AND $3` + pageOrder
	otherPage    = pageColumns + ` AND NOT f.activity AND f.conference_at BETWEEN $2 AND $3` + pageOrder
)

func (s *Store) page(query string, at located, span instance.Span) frames.ReadPage {
	return func(ctx context.Context, from frames.Position, limit int) (out frames.Page, err error) {
		err = s.read.with(ctx, func(conn *pgx.Conn) error {
			out, err = frames.Page{}, nil
			b := &pgx.Batch{}
			b.Queue(query, at.place, span.Start, span.End, at.days, from.At, from.Session[:], from.Seq, from.Idx, limit).Query(func(rows pgx.Rows) error {
				out.Rows, err = pgx.CollectRows(rows, scanFrame)
				return err
			})
			// After the page, so that all words of its bodies are there.
			b.Queue(wordsAfter, s.learnt.Load()).Query(s.takeWords)
			return conn.SendBatch(ctx, b).Close()
		})
		return out, err
	}
}

func scanFrame(row pgx.CollectableRow) (r frames.ReadRow, err error) {
	err = row.Scan(&r.At, &r.Session, &r.Seq, &r.Idx, &r.N, &r.Activity, &r.ConferenceAt, &r.ObservedAt, &r.Fabric, &r.Body)
	return r, err
}
