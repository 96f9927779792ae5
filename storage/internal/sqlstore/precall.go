package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

// PreCalls writes pre-call tests.
type PreCalls struct {
	db DB
	// write runs add in a transaction during which no erasure is registered. It may run add again.
	write func(ctx context.Context, add func(Tx) error) error
}

// NewPreCalls returns the PreCalls of a store.
func NewPreCalls(db DB, write func(ctx context.Context, add func(Tx) error) error) *PreCalls {
	return &PreCalls{db, write}
}

const (
	insertPreCall = `INSERT INTO {table precall} (app_id, session, seq, idx, at, observed_at, status, user_id, user_alias, details, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (app_id, session, seq, idx) DO NOTHING RETURNING key`
	insertPreCallTerm = `INSERT INTO {table precall_term} (term, at, precall) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
)

// preparedPreCall is a checked test.
type preparedPreCall struct {
	test    *storage.PreCall
	session [16]byte
	row     erasure.PreCall
}

// AppendPreCalls implements storage.Writer.
func (s *PreCalls) AppendPreCalls(ctx context.Context, tests []storage.PreCall) (done storage.Appended, err error) {
	ready, err := preparePreCalls(tests)
	if err == nil {
		err = s.write(ctx, func(tx Tx) error {
			done = storage.Appended{}
			return addPreCalls(tx, ready, &done)
		})
	}
	if err != nil {
		return storage.Appended{}, s.db.Wrap("append pre-call tests", err)
	}
	return done, nil
}

func preparePreCalls(tests []storage.PreCall) ([]preparedPreCall, error) {
	ready := make([]preparedPreCall, len(tests))
	for i := range tests {
		p := &tests[i]
		if err := p.Check(); err != nil {
			return nil, err
		}
		id, _ := storage.ParseSessionID(p.Session.ID) // checked
		details, err := json.Marshal(p.Session.Details)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
		}
		if _, err := encodeResult(&p.Result); err != nil {
			return nil, err
		}
		row := frames.SessionRow{UserID: p.Session.UserID, UserAlias: p.Session.UserAlias, Details: string(details)}
		ready[i] = preparedPreCall{p, id, erasure.PreCall{Row: row, Result: p.Result}}
	}
	return ready, nil
}

func addPreCalls(tx Tx, ready []preparedPreCall, done *storage.Appended) error {
	all, _, err := Erasures(tx)
	for i := 0; i < len(ready) && err == nil; i++ {
		p, app := &ready[i], ready[i].test.Session.AppID
		var row erasure.PreCall
		row, err = erasure.LatePreCall(all, app, p.session, p.row, func() (name string, err error) {
			var user []byte
			_, err = One(tx, []any{&user}, `SELECT user_id FROM {table session} WHERE app_id = ? AND id = ?`, Text(app), p.session[:])
			return string(user), err
		})
		if err == nil {
			err = p.add(tx, row, done)
		}
	}
	return err
}

// add writes one test and its terms, unless the test is stored.
func (p *preparedPreCall) add(tx Tx, row erasure.PreCall, done *storage.Appended) error {
	body, err := encodeResult(&row.Result)
	if err != nil {
		return err
	}
	var key int64
	at := p.test.At.UnixMilli()
	added, err := One(tx, []any{&key}, insertPreCall, Text(p.test.Session.AppID), p.session[:], int64(p.test.Seq), p.test.Index, at,
		p.test.ObservedAt.UnixMilli(), Text(row.Result.Status), Text(row.Row.UserID), Text(row.Row.UserAlias), Text(row.Row.Details), body)
	if err != nil {
		return err
	}
	if !added {
		done.Duplicates++
		return nil
	}
	done.New++
	return addPreCallTerms(tx, key, at, p.test.Session.AppID, row)
}

func encodeResult(r *storage.PreCallResult) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	if len(body) > storage.MaxPreCallBytes {
		return nil, fmt.Errorf("%w: the result of a pre-call test has at most %d bytes (got %d)", storage.ErrInvalid, storage.MaxPreCallBytes, len(body))
	}
	return body, nil
}

func addPreCallTerms(tx Tx, key, at int64, app string, row erasure.PreCall) error {
	p, err := preCallOf(app, row)
	e := executor{tx: tx, err: err}
	if err == nil {
		for _, t := range term.OfPreCall(&p) {
			e.run(insertPreCallTerm, int64(t), at, key)
		}
	}
	return e.err
}

// preCallOf returns a test without its identity and times.
func preCallOf(app string, row erasure.PreCall) (p storage.PreCall, err error) {
	p.Session = storage.Session{AppID: app, UserID: row.Row.UserID, UserAlias: row.Row.UserAlias}
	p.Session.Details, err = erasure.ReadDetails(row.Row.Details)
	p.Result = row.Result
	return p, err
}

// storedPreCall is a row of the table precall.
type storedPreCall struct {
	key, at, observed, seq int64
	idx                    int
	app                    string
	session                [16]byte
	row                    frames.SessionRow
	body                   []byte
	sessionUser            string // user_id of the session's row; empty without one
}

const preCallColumns = `p.key, p.app_id, p.session, p.seq, p.idx, p.at, p.observed_at, p.user_id, p.user_alias, p.details, p.body`

func scanPreCall(row Row) (p storedPreCall, err error) { return scanPreCallColumns(row) }

func scanPreCallColumns(row Row, more ...any) (p storedPreCall, err error) {
	var app, session, user, alias, details []byte
	dest := append([]any{&p.key, &app, &session, &p.seq, &p.idx, &p.at, &p.observed, &user, &alias, &details, &p.body}, more...)
	if err := row.Scan(dest...); err != nil {
		return p, err
	}
	p.app, p.session = string(app), [16]byte(session)
	p.row = frames.SessionRow{UserID: string(user), UserAlias: string(alias), Details: string(details)}
	return p, nil
}

// erasable returns the test in the form of package erasure. Its error wraps storage.ErrDamaged.
func (p *storedPreCall) erasable() (row erasure.PreCall, err error) {
	row.Row = p.row
	if err = json.Unmarshal(p.body, &row.Result); err != nil {
		err = fmt.Errorf("%w: pre-call test %d of session %s: %w", storage.ErrDamaged, p.seq, uuid.UUID(p.session), err)
	}
	return row, err
}

// test returns the test. Its error wraps storage.ErrDamaged.
func (p *storedPreCall) test() (out storage.PreCall, err error) {
	row, err := p.erasable()
	if err != nil {
		return out, err
	}
	if out, err = preCallOf(p.app, row); err != nil {
		return out, fmt.Errorf("%w: session of pre-call test %d: %w", storage.ErrDamaged, p.seq, err)
	}
	out.Session.ID = uuid.UUID(p.session).String()
	out.Seq, out.Index, out.At, out.ObservedAt = uint64(p.seq), p.idx, frames.FromMs(p.at), frames.FromMs(p.observed) // never negative
	return out, nil
}

func (p *storedPreCall) cursor() storage.Cursor {
	return storage.Cursor{Start: frames.FromMs(p.at), Key: p.key}
}

// PreCalls implements storage.Reader.
func (l Lists) PreCalls(ctx context.Context, q storage.PreCallQuery) (page storage.PreCallPage, err error) {
	var found []storedPreCall
	err = l.db.Read(ctx, func(tx Tx) (err error) {
		statement, values := preCallSearch(q)
		found, err = All(tx, scanPreCall, statement, values...)
		return err
	})
	if limit := pageLimit(q.Limit); err == nil && len(found) > limit {
		found, page.Next = found[:limit], found[limit-1].cursor()
	}
	var damage frames.Damage
	for i := 0; i < len(found) && err == nil; i++ {
		test, fault := found[i].test()
		if fault != nil {
			damage.Add(fault)
			continue
		}
		page.PreCalls, page.Cursors = append(page.PreCalls, test), append(page.Cursors, found[i].cursor())
	}
	if err == nil {
		err = damage.Err()
	}
	if err != nil {
		return page, l.db.Wrap("list pre-call tests", err)
	}
	return page, nil
}

// preCallSearch returns the statement of a query. A single term is read in order of its index, so that the search
// stops when its page is full.
func preCallSearch(q storage.PreCallQuery) (statement string, values []any) {
	var c condition
	from, at, key := `{table precall} p`, "p.at", "p.key"
	wanted := term.OfPreCalls(q)
	for _, w := range wanted {
		if w.AliasesOnly {
			low, high := w.Names()
			c.add(`p.key NOT IN (SELECT n.precall FROM {table precall_term} n WHERE n.term BETWEEN ? AND ? AND (n.term & 15) = ?)`, int64(low), int64(high), int64(term.Name))
		}
	}
	for i, w := range wanted {
		if w.Low == w.High {
			from, at, key = `{table precall_term} t {join} {table precall} p ON p.key = t.precall`, "t.at", "t.precall"
			c.add("t.term = ?", int64(w.Low))
			wanted = append(wanted[:i:i], wanted[i+1:]...)
			break
		}
	}
	for _, w := range wanted {
		c.add(`p.key IN (SELECT x.precall FROM {table precall_term} x WHERE x.term BETWEEN ? AND ? AND (x.term & 15) BETWEEN ? AND ?)`,
			int64(w.Low), int64(w.High), int64(w.First), int64(w.Last))
	}
	if q.AppID != "" {
		c.add("p.app_id = ?", Text(q.AppID))
	}
	if q.Status != "" {
		c.add("p.status = ?", Text(q.Status))
	}
	if !q.From.IsZero() {
		c.add(at+" >= ?", frames.CeilMs(q.From))
	}
	if !q.To.IsZero() {
		c.add(at+" < ?", frames.CeilMs(q.To))
	}
	if q.Before != (storage.Cursor{}) {
		c.add("("+at+", "+key+") < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
	where := ""
	if len(c.terms) > 0 {
		where = " WHERE " + strings.Join(c.terms, " AND ")
	}
	return `SELECT ` + preCallColumns + ` FROM ` + from + where + ` ORDER BY ` + at + ` DESC, ` + key + ` DESC LIMIT ?`, append(c.args, pageLimit(q.Limit)+1)
}

// DeletePreCalls deletes up to most tests from before a time, of one app if ofApp is set, otherwise of all. It
// returns their number.
func DeletePreCalls(tx Tx, beforeMs int64, ofApp bool, app string, most int64) (deleted int64, err error) {
	selected, values := `SELECT key FROM {table precall} WHERE at < ? ORDER BY at, key LIMIT ?`, []any{beforeMs, most}
	if ofApp {
		selected, values = `SELECT key FROM {table precall} WHERE app_id = ? AND at < ? ORDER BY at, key LIMIT ?`, []any{Text(app), beforeMs, most}
	}
	keys, err := All(tx, scanKey, selected, values...)
	e := executor{tx: tx, err: err}
	for _, key := range keys {
		e.run(`DELETE FROM {table precall_term} WHERE precall = ?`, key)
		e.run(`DELETE FROM {table precall} WHERE key = ?`, key)
	}
	return int64(len(keys)), e.err
}
