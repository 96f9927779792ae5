package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
)

// preCallRows selects the tests of an app after a position, the oldest first, with the user of their sessions.
const preCallRows = `SELECT ` + preCallColumns + `, s.user_id FROM {table precall} p LEFT JOIN {table session} s ON s.app_id = p.app_id AND s.id = p.session
	WHERE p.app_id = ? AND (p.at, p.key) > (?, ?) ORDER BY p.at, p.key LIMIT ?`

func scanPreCallRow(row Row) (p storedPreCall, err error) {
	var user []byte
	p, err = scanPreCallColumns(row, &user)
	p.sessionUser = string(user)
	return p, err
}

// eachPreCall calls do for each pre-call test of an app.
func (u *Users) eachPreCall(ctx context.Context, app string, do func(*storedPreCall) error) error {
	at, key := int64(math.MinInt64), int64(0)
	for {
		var page []storedPreCall
		err := u.db.Read(ctx, func(tx Tx) (err error) {
			page, err = All(tx, scanPreCallRow, preCallRows, Text(app), at, key, eraseRows)
			return err
		})
		for i := 0; i < len(page) && err == nil; i++ {
			at, key = page[i].at, page[i].key
			err = do(&page[i])
		}
		if err != nil || len(page) < eraseRows {
			return err
		}
	}
}

// precalls erases the user in pre-call tests.
func (p *pass) precalls(ctx context.Context) error {
	return p.eachPreCall(ctx, p.e.AppID, func(row *storedPreCall) error {
		next, changed, err := p.precall(row)
		if isDamaged(err) {
			p.e.Damaged++
			return nil
		}
		if err != nil || !changed {
			return err
		}
		body, err := encodeResult(&next.Result)
		if err != nil {
			return err
		}
		p.e.Records++
		return p.erasing.Locked(ctx, Lock{}, func(tx Tx) error {
			e := executor{tx: tx}
			e.run(`UPDATE {table precall} SET user_id = ?, user_alias = ?, details = ?, body = ? WHERE key = ?`,
				Text(next.Row.UserID), Text(next.Row.UserAlias), Text(next.Row.Details), body, row.key)
			e.run(`DELETE FROM {table precall_term} WHERE precall = ?`, row.key)
			return errors.Join(e.err, addPreCallTerms(tx, row.key, row.at, row.app, next))
		})
	})
}

// precall returns a test with the erasure applied.
func (p *pass) precall(row *storedPreCall) (next erasure.PreCall, changed bool, err error) {
	have, err := row.erasable()
	if err != nil || erasure.Began(row.session) >= p.e.At.UnixMilli() {
		return have, false, err
	}
	if !p.e.Owns(row.session, row.row, row.sessionUser) {
		return p.e.Find(false, nil).PreCall(have)
	}
	next, err = p.e.Find(true, nil).OwnPreCall(have, p.e.Pseudonym)
	if err != nil {
		return next, false, err
	}
	before, err := encodeResult(&have.Result)
	if err != nil {
		return next, false, err
	}
	after, err := encodeResult(&next.Result)
	return next, next.Row != have.Row || string(before) != string(after), err
}

// precalls exports the pre-call tests of the user: those with a given ID, and those of the user's
// sessions.
func (x *export) precalls(ctx context.Context) error {
	own, err := x.ownIDs(ctx)
	if err != nil {
		return err
	}
	return x.eachPreCall(ctx, x.app, func(row *storedPreCall) error {
		if !own[row.session] && !x.givenIDs[row.row.UserID] && !x.givenIDs[row.row.UserAlias] {
			return nil
		}
		test, err := row.test()
		if isDamaged(err) {
			x.damage.Add(err)
			return nil
		}
		attributes := map[string]any{}
		for name, value := range test.Session.Details {
			attributes[name] = value
		}
		document, err := json.Marshal(test.Result)
		return errors.Join(err, x.put(storage.Exported{
			Type: storage.ExportedPreCall, Session: uuid.UUID(row.session).String(), AtMs: row.at,
			IDs: []string{row.row.UserID, row.row.UserAlias}, Attributes: attributes, Document: document,
		}))
	})
}

// ownIDs returns the IDs of the user's sessions.
func (x *export) ownIDs(ctx context.Context) (map[[16]byte]bool, error) {
	own := map[[16]byte]bool{}
	err := x.eachSession(ctx, x.app, func(s *sessionRow) error {
		if x.ownKeys[s.key] {
			own[s.id] = true
		}
		return nil
	})
	return own, err
}
