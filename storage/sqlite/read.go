package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

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
	var document []byte
	err := s.view(ctx, func(tx *sql.Tx) error {
		found, err := find(ctx, tx, ref)
		if err != nil {
			return err
		}
		rows, err := scanConferences(ctx, tx, `conference c CROSS JOIN place p ON p.key = c.place WHERE c.key = ?`, found.Key)
		if err != nil {
			return err
		}
		if err := addParticipants(ctx, tx, rows); err != nil {
			return err
		}
		c = rows[0].Conference
		return tx.QueryRowContext(ctx, `SELECT document FROM conference WHERE key = ?`, found.Key).Scan(&document)
	})
	if err != nil {
		return storage.Conference{}, s.wrap("read conference", err)
	}
	if err := join.OpenDocument(&c, document); err != nil {
		return c, s.wrap("read conference", err)
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

// Place implements join.Listed.
func (l listed) Place() storage.Cursor { return storage.Cursor{Start: l.Start, Key: l.key} }

func list(ctx context.Context, tx *sql.Tx, q storage.Query) (page storage.Page, err error) {
	rows, err := join.List(q, func(s string) any { return s }, index{ctx, tx})
	if err != nil {
		return page, err
	}
	if limit := join.Limit(q); len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].Place()
	}
	if err := addParticipants(ctx, tx, rows); err != nil {
		return page, err
	}
	if err := addMatched(ctx, tx, q, rows); err != nil {
		return page, err
	}
	for _, row := range rows {
		page.Conferences = append(page.Conferences, row.Conference)
	}
	return page, nil
}

const conferenceColumns = `SELECT c.key, p.app_id, p.conference_id, c.start_ms, c.end_ms, c.revision IS NOT NULL,
	coalesce(c.revision, 0), coalesce(c.summary_start, 0), coalesce(c.summary_end, 0), coalesce(c.outcome, ''),
	coalesce(c.participants, 0), c.mos, coalesce(c.label, ''), coalesce(c.cause, ''), c.unfindable FROM `

// scanConferences runs a query whose text after FROM is made of constants; values are
// arguments. It reads no documents.
func scanConferences(ctx context.Context, tx *sql.Tx, from string, args ...any) (out []listed, err error) {
	rows, err := tx.QueryContext(ctx, conferenceColumns+from, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row listed
		var start, end int64
		var summed bool
		var sum join.Summary
		columns := append([]any{&row.key, &row.AppID, &row.ConferenceID, &start, &end, &summed}, brief(&sum)...)
		err := rows.Scan(append(columns, &row.Unfindable)...)
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

// participantsOf finds those of conferences, by their keys as JSON, in order of session id.
const participantsOf = `SELECT p.conference, s.id, s.app_id, s.user_id, s.user_alias, s.details
	FROM json_each(?) k CROSS JOIN participant p ON p.conference = k.value CROSS JOIN session s ON s.key = p.session ORDER BY s.id`

// addParticipants reads those of conferences in order of session id, which is the order in
// which they started.
func addParticipants(ctx context.Context, tx *sql.Tx, conferences []listed) error {
	index, keys := map[int64]int{}, make([]int64, len(conferences))
	for i, c := range conferences {
		index[c.key], keys[i] = i, c.key
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, participantsOf, string(list))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var conference int64
		var id, details []byte
		var session storage.Session
		if err := rows.Scan(&conference, &id, &session.AppID, &session.UserID, &session.UserAlias, &details); err != nil {
			return err
		}
		if err := json.Unmarshal(details, &session.Details); err != nil {
			return fmt.Errorf("details of session %x: %w", id, err)
		}
		session.ID = uuid.UUID(id).String()
		c := &conferences[index[conference]]
		c.Participants = append(c.Participants, storage.Participant{Session: session})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return addRenames(ctx, tx, conferences, string(list), index)
}

// located is a conference's place in the tables.
type located struct {
	join.Row
	place int64
	own   instance.Span // join.Own
}

// find returns the conference at ref; join.Find says which.
func find(ctx context.Context, tx *sql.Tx, ref storage.Ref) (found located, err error) {
	err = tx.QueryRowContext(ctx, `SELECT key FROM place WHERE app_id = ? AND conference_id = ?`, ref.AppID, ref.ConferenceID).Scan(&found.place)
	if errors.Is(err, sql.ErrNoRows) {
		return found, storage.ErrNotFound
	}
	if err != nil {
		return found, err
	}
	at := ref.At.UnixMilli()
	rows, err := around(ctx, tx, found.place, join.Owners(at))
	if err != nil {
		return found, err
	}
	var ok bool
	if found.Row, ok = join.Find(rows, at); !ok {
		return found, storage.ErrNotFound
	}
	if rows, err = around(ctx, tx, found.place, join.Beside(found.Span)); err != nil {
		return found, err
	}
	found.own = join.Own(found.Row, rows)
	return found, nil
}

// around returns the conferences of a place that join.Table.Around names, in order.
func around(ctx context.Context, tx *sql.Tx, place int64, span instance.Span) (out []join.Row, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT key, start_ms, end_ms`+aroundRows, place, span.Start)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for behind := false; !behind && rows.Next(); {
		var c join.Row
		if err := rows.Scan(&c.Key, &c.Span.Start, &c.Span.End); err != nil {
			return nil, err
		}
		out = append(out, c)
		behind = c.Span.Start > span.End
	}
	return out, rows.Err()
}
