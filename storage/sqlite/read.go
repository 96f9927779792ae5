package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Conferences implements storage.Reader.
func (s *Store) Conferences(ctx context.Context, q storage.Query) (storage.Page, error) {
	var page storage.Page
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		page, err = list(ctx, tx, q)
		return err
	})
	if err != nil {
		return storage.Page{}, s.wrap("list conferences", err)
	}
	return page, nil
}

// Conference implements storage.Reader.
func (s *Store) Conference(ctx context.Context, ref storage.Ref) (storage.Conference, error) {
	var c storage.Conference
	err := s.view(ctx, func(tx *sql.Tx) error {
		found, err := find(ctx, tx, ref)
		if err != nil {
			return err
		}
		rows, err := scanConferences(ctx, tx, `WHERE c.key = ?`, found.Key)
		if err != nil {
			return err
		}
		c = rows[0].Conference
		c.Participants, err = participants(ctx, tx, found.Key)
		return err
	})
	if err != nil {
		return storage.Conference{}, s.wrap("read conference", err)
	}
	return c, nil
}

// view runs read in a transaction, so that all its queries see the same state.
func (s *Store) view(ctx context.Context, read func(*sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(tx)
}

// listed is a conference and its row key.
type listed struct {
	storage.Conference
	key int64
}

func list(ctx context.Context, tx *sql.Tx, q storage.Query) (page storage.Page, err error) {
	limit := join.Limit(q)
	where, args := join.Conditions(q, func(s string) any { return s })
	rows, err := scanConferences(ctx, tx, where+` ORDER BY c.start_ms DESC, c.key DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return page, err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		page.Next = storage.Cursor{Start: last.Start, Key: last.key}
	}
	for _, row := range rows {
		if row.Participants, err = participants(ctx, tx, row.key); err != nil {
			return page, err
		}
		page.Conferences = append(page.Conferences, row.Conference)
	}
	return page, nil
}

const conferenceColumns = `SELECT c.key, p.app_id, p.conference_id, c.start_ms, c.end_ms, c.revision IS NOT NULL,
		coalesce(c.revision, 0), coalesce(c.summary_start, 0), coalesce(c.summary_end, 0), coalesce(c.outcome, ''),
		coalesce(c.participants, 0), c.mos, coalesce(c.label, ''), c.document
		FROM conference c JOIN place p ON p.key = c.place `

// scanConferences runs a query whose where is made of constants; values are arguments.
func scanConferences(ctx context.Context, tx *sql.Tx, where string, args ...any) (out []listed, err error) {
	rows, err := tx.QueryContext(ctx, conferenceColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row listed
		var start, end int64
		var summed bool
		var sum join.Summary
		err := rows.Scan(append([]any{&row.key, &row.AppID, &row.ConferenceID, &start, &end, &summed}, fields(&sum)...)...)
		if err != nil {
			return nil, err
		}
		row.Start, row.End = frames.FromMs(start), frames.FromMs(end)
		if summed {
			row.Summary = sum.Stored(row.AppID, row.ConferenceID)
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// participants returns those of a conference in order of session id, which is the order
// in which they started.
func participants(ctx context.Context, tx *sql.Tx, conference int64) (out []storage.Participant, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT s.id, s.app_id, s.user_id, s.user_alias, s.details
		FROM participant p JOIN session s ON s.key = p.session WHERE p.conference = ? ORDER BY s.id`, conference)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, details []byte
		var session storage.Session
		if err := rows.Scan(&id, &session.AppID, &session.UserID, &session.UserAlias, &details); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(details, &session.Details); err != nil {
			return nil, fmt.Errorf("details of session %x: %w", id, err)
		}
		session.ID = frames.FormatUUID(id)
		out = append(out, storage.Participant{Session: session})
	}
	return out, rows.Err()
}

// located is a conference's place in the tables.
type located struct {
	join.Row
	place int64
	own   instance.Span // join.Zone
}

// find returns the conference at ref. The time may lie up to the gap beside it; then
// activity comes before what has none, and the nearer before the other.
func find(ctx context.Context, tx *sql.Tx, ref storage.Ref) (found located, err error) {
	err = tx.QueryRowContext(ctx, `SELECT key FROM place WHERE app_id = ? AND conference_id = ?`, ref.AppID, ref.ConferenceID).Scan(&found.place)
	if errors.Is(err, sql.ErrNoRows) {
		return found, storage.ErrNotFound
	}
	if err != nil {
		return found, err
	}
	at := ref.At.UnixMilli()
	rows, err := around(ctx, tx, found.place, at)
	if err != nil {
		return found, err
	}
	var ok bool
	if found.Row, ok = join.Find(rows, at); !ok {
		return found, storage.ErrNotFound
	}
	found.own, err = ownTimes(ctx, tx, found)
	return found, err
}

func ownTimes(ctx context.Context, tx *sql.Tx, l located) (instance.Span, error) {
	if !l.Activity {
		return l.Span, nil
	}
	before, err := around(ctx, tx, l.place, l.Span.Start)
	if err != nil {
		return l.Span, err
	}
	after, err := around(ctx, tx, l.place, l.Span.End)
	return join.Zone(l.Row, append(before, after...)), err
}

// around returns the conferences of a place within twice the gap of a time, in order.
func around(ctx context.Context, tx *sql.Tx, place, at int64) (out []join.Row, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT key, start_ms, end_ms, activity FROM conference
		WHERE place = ? AND start_ms <= ? AND end_ms >= ? ORDER BY start_ms`, place, at+2*instance.Gap, at-2*instance.Gap)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c join.Row
		if err := rows.Scan(&c.Key, &c.Span.Start, &c.Span.End, &c.Activity); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
