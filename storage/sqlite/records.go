package sqlite

import (
	"context"
	"database/sql"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
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
	var at located
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		at, err = find(ctx, tx, ref)
		return err
	})
	if err != nil {
		return err
	}
	activity, other := s.page(activityPage, at.place, at.Span), s.page(otherPage, at.place, at.own)
	read := frames.Read{Words: s.words, ConferenceID: ref.ConferenceID, Span: at.Span, Activity: activity, Other: other}
	return read.Records(ctx, yield)
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

func (s *Store) page(query string, place int64, span instance.Span) frames.ReadPage {
	return func(ctx context.Context, from frames.Position, limit int) (out frames.Page, err error) {
		rows, err := s.read.QueryContext(ctx, query, place, span.Start, span.End, from.At, from.Session[:], from.Seq, from.Idx, limit)
		if err != nil {
			return out, err
		}
		defer rows.Close()
		out.Rows = make([]frames.ReadRow, 0, limit)
		for rows.Next() {
			var r frames.ReadRow
			err := rows.Scan(&r.At, &r.Session, &r.Seq, &r.Idx, &r.N, &r.Activity, &r.ConferenceAt, &r.ObservedAt, &r.Fabric, &r.Body)
			if err != nil {
				return out, err
			}
			out.Rows = append(out.Rows, r)
		}
		return out, rows.Err()
	}
}
