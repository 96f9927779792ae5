package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Lists implements storage.Reader.
type Lists struct{ db DB }

var _ storage.Reader = Lists{}

// NewLists returns the Lists of a store.
func NewLists(db DB) Lists { return Lists{db} }

// Conferences implements storage.Reader.
func (l Lists) Conferences(ctx context.Context, q storage.Query) (page storage.Page, err error) {
	err = l.db.View(ctx, func(tx Tx) (err error) {
		page, err = list(tx, q)
		return err
	})
	if err != nil {
		return storage.Page{}, l.db.Wrap("list conferences", err)
	}
	return page, nil
}

// selectDocument selects the digest and the document of a conference's summary; no row without a summary.
const selectDocument = `SELECT c.digest, d.body FROM {table document} d {join} {table conference} c ON {place c d} c.key = d.conference WHERE {of d} d.conference = ?`

// listRow is a conference with the keys of its conferenceID and its row.
type listRow struct {
	storage.Conference
	place, key int64
}

// cursor returns the position of the conference in a listing.
func (l *listRow) cursor() storage.Cursor { return storage.Cursor{Start: l.Start, Key: l.key} }

func list(tx Tx, q storage.Query) (page storage.Page, err error) {
	rows, err := (&search{tx, q}).rows()
	if err != nil {
		return page, err
	}
	if limit := pageLimit(q.Limit); len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].cursor()
	}
	whole, err := completeRows(tx, rows, cmp.Or(q.MaxParticipants, storage.DefaultPageParticipants))
	if err != nil {
		return page, err
	}
	if whole < len(rows) {
		rows = rows[:whole]
		page.Next = rows[whole-1].cursor()
	}
	if err := addMatched(tx, q, rows); err != nil {
		return page, err
	}
	if err := addDigests(tx, q, rows); err != nil {
		return page, err
	}
	for _, row := range rows {
		page.Conferences, page.Cursors = append(page.Conferences, row.Conference), append(page.Cursors, row.cursor())
	}
	return page, nil
}

// completeRows completes as many of the first rows as have up to most participants, and returns their number. It
// always completes the first row.
func completeRows(tx Tx, rows []listRow, most int) (int, error) {
	err := complete(tx, rows, most)
	if !errors.Is(err, errCrowded) {
		return len(rows), err
	}
	counts := make([]int, len(rows))
	keys, at := keysOf(rows)
	err = tx.Each(func(row Row) error {
		var key int64
		var count int
		err := row.Scan(&key, &count)
		counts[at[key]] = count
		return err
	}, countsOf, keys)
	if err != nil {
		return 0, err
	}
	whole, total := 1, counts[0]
	for ; whole < len(rows) && total+counts[whole] <= most; whole++ {
		total += counts[whole]
	}
	for i := range rows {
		rows[i].Participants = nil
	}
	return whole, complete(tx, rows[:whole], math.MaxInt)
}

// CountParticipants implements storage.Reader.
func (l Lists) CountParticipants(ctx context.Context, ref storage.Ref) (count int, err error) {
	err = l.db.View(ctx, func(tx Tx) error {
		found, err := Find(tx, ref)
		if err == nil {
			var key int64
			_, err = One(tx, []any{&key, &count}, countsOf, Keys{Places: []int64{found.Place}, Keys: []int64{found.Key}})
		}
		return err
	})
	if err != nil {
		return 0, l.db.Wrap("count participants", err)
	}
	return count, nil
}

// Conference implements storage.Reader.
func (l Lists) Conference(ctx context.Context, ref storage.Ref) (c storage.Conference, err error) {
	var digest, document []byte
	err = l.db.View(ctx, func(tx Tx) error {
		found, err := Find(tx, ref)
		if err != nil {
			return err
		}
		rows, err := All(tx, scanListRow, listColumns+`FROM {table conference} c {join} {table place} p ON p.key = c.place WHERE c.place = ? AND c.key = ?`, found.Place, found.Key)
		if err != nil {
			return err
		}
		if err := complete(tx, rows, math.MaxInt); err != nil {
			return err
		}
		c = rows[0].Conference
		_, err = One(tx, []any{&digest, &document}, selectDocument, Place(found.Place), found.Key)
		return err
	})
	if err != nil {
		return storage.Conference{}, l.db.Wrap("read conference", err)
	}
	if c.Summary != nil {
		c.Summary.Digest = digest
	}
	if err := join.OpenDocument(&c, document); err != nil {
		return c, l.db.Wrap("read conference", err)
	}
	return c, nil
}

const listColumns = `SELECT c.key, c.place, p.app_id, p.conference_id, c.start_ms, c.end_ms, c.revision IS NOT NULL,
	coalesce(c.revision, 0), coalesce(c.summary_start, 0), coalesce(c.summary_end, 0), coalesce(c.outcome, ''),
	coalesce(c.participants, 0), c.mos, coalesce(c.label, ''), coalesce(c.cause, ''), c.terms_dropped `

// scanListRow scans listColumns.
func scanListRow(row Row) (l listRow, err error) {
	var app, id, outcome, label, cause []byte
	var start, end int64
	var summed bool
	var sum join.Summary
	err = row.Scan(&l.key, &l.place, &app, &id, &start, &end, &summed, &sum.Revision, &sum.Span.Start, &sum.Span.End, &outcome,
		&sum.Participants, &sum.MOS, &label, &cause, &l.TermsDropped)
	l.AppID, l.ConferenceID = string(app), string(id)
	l.Start, l.End = frames.FromMs(start), frames.FromMs(end)
	if summed {
		sum.Outcome, sum.Label, sum.Cause = string(outcome), string(label), string(cause)
		l.Summary = sum.Stored(l.AppID, l.ConferenceID)
	}
	return l, err
}

// keysOf returns the keys of conferences, and their indexes in rows.
func keysOf(rows []listRow) (keys Keys, at map[int64]int) {
	at = make(map[int64]int, len(rows))
	for i := range rows {
		keys.Places, keys.Keys = append(keys.Places, rows[i].place), append(keys.Keys, rows[i].key)
		at[rows[i].key] = i
	}
	return keys, at
}

// The statements of participants, in order of session id, which is their order of start, and of
// their renames, in order of the records.
const (
	participantsOf = `SELECT p.conference, s.id, s.app_id, s.user_id, s.user_alias, s.details FROM {keys} k
		{join} {table participant} p ON {place p k} p.conference = k.key {join} {table session} s ON s.key = p.session ORDER BY s.id`
	countsOf  = `SELECT p.conference, count(*) FROM {keys} k {join} {table participant} p ON {place p k} p.conference = k.key GROUP BY p.conference`
	renamesOf = `SELECT r.conference, s.id, r.user_id, r.user_alias FROM {keys} k
		{join} {table rename} r ON {place r k} r.conference = k.key {join} {table session} s ON s.key = r.session ORDER BY r.seq, r.idx`
)

// errCrowded is returned by complete.
var errCrowded = errors.New("too many participants")

// complete adds the participants of conferences, or returns errCrowded if there are more than most.
func complete(tx Tx, rows []listRow, most int) error {
	keys, at := keysOf(rows)
	var key int64
	count := 0
	var id, app, user, alias, details []byte
	err := tx.Each(func(row Row) error {
		if err := row.Scan(&key, &id, &app, &user, &alias, &details); err != nil {
			return err
		}
		if count++; count > most {
			return errCrowded
		}
		s, err := Session(id, app, user, alias, details)
		c := &rows[at[key]]
		c.Participants = append(c.Participants, storage.Participant{Session: s})
		return err
	}, participantsOf, keys)
	if err != nil {
		return err
	}
	return tx.Each(func(row Row) error {
		err := row.Scan(&key, &id, &user, &alias)
		if err == nil {
			term.AddRename(&rows[at[key]].Conference, uuid.UUID(id).String(), storage.Name{UserID: string(user), UserAlias: string(alias)})
		}
		return err
	}, renamesOf, keys)
}

// Session returns a session from the columns of its row.
func Session(id, app, user, alias, details []byte) (storage.Session, error) {
	s := storage.Session{ID: uuid.UUID(id).String(), AppID: string(app), UserID: string(user), UserAlias: string(alias)}
	if err := json.Unmarshal(details, &s.Details); err != nil {
		return s, fmt.Errorf("details of session %s: %w", s.ID, err)
	}
	return s, nil
}

// selectMatching selects those terms of some conferences that have one value.
const selectMatching = `SELECT t.conference, t.term FROM {keys} k
	{join} {table term} t {by term_conference} ON t.conference = k.key AND t.term BETWEEN ? AND ? ORDER BY t.conference, t.term`

// addMatched fills Matched if the query has Any.
func addMatched(tx Tx, q storage.Query, rows []listRow) error {
	m, ok := newMatcher(q)
	if !ok || len(rows) == 0 {
		return nil
	}
	for i := range rows {
		m.matchID(&rows[i].Conference)
	}
	keys, at := keysOf(rows)
	return tx.Each(func(row Row) error {
		var key int64
		var t term.Term
		err := row.Scan(&key, &t)
		if err == nil {
			m.matchTerm(&rows[at[key]].Conference, t)
		}
		return err
	}, selectMatching, keys, int64(m.Low), int64(m.High))
}
