package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Conferences implements storage.Reader.
func (s *Store) Conferences(ctx context.Context, q storage.Query) (page storage.Page, err error) {
	err = s.view(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		page, err = list(ctx, tx, q)
		return err
	})
	if err != nil {
		return storage.Page{}, s.wrap("list conferences", err)
	}
	return page, nil
}

// Conference implements storage.Reader.
func (s *Store) Conference(ctx context.Context, ref storage.Ref) (c storage.Conference, err error) {
	var document []byte
	err = s.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := find(ctx, tx, ref)
		if err != nil {
			return err
		}
		rows, err := scanConferences(ctx, tx, fromConferences+`WHERE c.key = $1`, found.Key)
		if err != nil {
			return err
		}
		if err := addParticipants(ctx, tx, rows); err != nil {
			return err
		}
		c = rows[0].Conference
		return tx.QueryRow(ctx, `SELECT document FROM qos_conference WHERE key = $1`, found.Key).Scan(&document)
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
func (s *Store) view(ctx context.Context, read func(context.Context, pgx.Tx) error) error {
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return read(ctx, tx)
		})
	})
}

// reading runs f with a connection, and no longer than it may take: a server that went
// silent is an error.
func (s *Store) reading(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.patience)
	defer cancel()
	return s.read.with(ctx, func(conn *pgx.Conn) error { return f(ctx, conn) })
}

// listed is a conference and its row key.
type listed struct {
	storage.Conference
	key int64
}

// Place implements join.Listed.
func (l listed) Place() storage.Cursor { return storage.Cursor{Start: l.Start, Key: l.key} }

func list(ctx context.Context, tx pgx.Tx, q storage.Query) (page storage.Page, err error) {
	rows, err := join.List(q, func(s string) any { return []byte(s) }, index{ctx, tx})
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

// numbered turns question marks into PostgreSQL's parameters.
func numbered(sql string) string {
	var out strings.Builder
	n := 0
	for part := range strings.SplitSeq(sql, "?") {
		if n > 0 {
			fmt.Fprintf(&out, "$%d", n)
		}
		out.WriteString(part)
		n++
	}
	return out.String()
}

const conferenceColumns = `SELECT c.key, p.app_id, p.conference_id, c.start_ms, c.end_ms, c.revision IS NOT NULL,
		coalesce(c.revision, 0), coalesce(c.summary_start, 0), coalesce(c.summary_end, 0), coalesce(c.outcome, ''),
		coalesce(c.participants, 0), c.mos, coalesce(c.label, ''), coalesce(c.cause, ''), c.unfindable `

const fromConferences = `FROM qos_conference c JOIN qos_place p ON p.key = c.place `

// scanConferences runs a query whose text after the columns is made of constants; values are
// arguments. It reads no documents.
func scanConferences(ctx context.Context, tx pgx.Tx, from string, args ...any) (out []listed, err error) {
	rows, err := tx.Query(ctx, conferenceColumns+from, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row listed
		var app, id, outcome, label, cause []byte
		var start, end int64
		var summed bool
		var sum join.Summary
		err := rows.Scan(&row.key, &app, &id, &start, &end, &summed,
			&sum.Revision, &sum.Span.Start, &sum.Span.End, &outcome, &sum.Participants, &sum.MOS, &label, &cause, &row.Unfindable)
		if err != nil {
			return nil, err
		}
		row.AppID, row.ConferenceID = string(app), string(id)
		row.Start, row.End = frames.FromMs(start), frames.FromMs(end)
		if summed {
			sum.Outcome, sum.Label, sum.Cause = string(outcome), string(label), string(cause)
			row.Summary = sum.Stored(row.AppID, row.ConferenceID)
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// addParticipants reads those of conferences in order of session id, which is the order in
// which they started.
func addParticipants(ctx context.Context, tx pgx.Tx, conferences []listed) error {
	index, keys := map[int64]int{}, make([]int64, len(conferences))
	for i, c := range conferences {
		index[c.key], keys[i] = i, c.key
	}
	rows, err := tx.Query(ctx, `SELECT p.conference, s.id, s.app_id, s.user_id, s.user_alias, s.details
		FROM qos_participant p JOIN qos_session s ON s.key = p.session WHERE p.conference = ANY ($1) ORDER BY s.id`, keys)
	if err != nil {
		return err
	}
	var conference int64
	var id, app, user, alias, details []byte
	_, err = pgx.ForEachRow(rows, []any{&conference, &id, &app, &user, &alias, &details}, func() error {
		s := storage.Session{ID: uuid.UUID(id).String(), AppID: string(app), UserID: string(user), UserAlias: string(alias)}
		if err := json.Unmarshal(details, &s.Details); err != nil {
			return fmt.Errorf("details of session %s: %w", s.ID, err)
		}
		c := &conferences[index[conference]]
		c.Participants = append(c.Participants, storage.Participant{Session: s})
		return nil
	})
	if err != nil {
		return err
	}
	return addRenames(ctx, tx, conferences, keys, index)
}

// located is a conference's place in the tables.
type located struct {
	join.Row
	place int64
	own   instance.Span // join.Own
	days  []int32       // partitions that hold its frames
}

// find returns the conference at ref; join.Find says which.
func find(ctx context.Context, tx pgx.Tx, ref storage.Ref) (found located, err error) {
	err = tx.QueryRow(ctx, `SELECT key FROM qos_place WHERE app_id = $1 AND conference_id = $2`,
		[]byte(ref.AppID), []byte(ref.ConferenceID)).Scan(&found.place)
	if errors.Is(err, pgx.ErrNoRows) {
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
	found.days, err = placeDays(ctx, tx, found.place, found.Span)
	return found, err
}

// around returns the conferences of a place that join.Table.Around names, in order.
func around(ctx context.Context, q querier, place int64, span instance.Span) (out []join.Row, err error) {
	rows, err := q.Query(ctx, rowsAround, place, span.Start, span.End)
	if err != nil {
		return nil, err
	}
	err = conferences(rows, func(_ int64, c join.Row) { out = append(out, c) })
	return out, err
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// placeDays returns the days of the sessions that take part in a place's conferences that
// overlap a span.
func placeDays(ctx context.Context, q querier, place int64, span instance.Span) ([]int32, error) {
	rows, err := q.Query(ctx, `SELECT DISTINCT s.day FROM qos_conference c
		JOIN qos_participant p ON p.conference = c.key JOIN qos_session s ON s.key = p.session
		WHERE c.place = $1 AND c.start_ms <= $2 AND c.end_ms >= $3`, place, span.End, span.Start)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}
