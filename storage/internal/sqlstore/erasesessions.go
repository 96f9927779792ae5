package sqlstore

import (
	"context"
	"errors"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

func isDamaged(err error) bool { return errors.Is(err, storage.ErrDamaged) }

// sessionRow is a row of the table session.
type sessionRow struct {
	key int64
	id  [16]byte
	frames.SessionRow
}

const selectSessionRows = `SELECT key, id, user_id, user_alias, details FROM {table session} WHERE app_id = ? AND `

func scanSession(row Row) (s sessionRow, err error) {
	var id, user, alias, details []byte
	if err = row.Scan(&s.key, &id, &user, &alias, &details); err == nil {
		s.id, s.SessionRow = [16]byte(id), frames.SessionRow{UserID: string(user), UserAlias: string(alias), Details: string(details)}
	}
	return s, err
}

// eachSession calls do for each session of an app.
func (u *Users) eachSession(ctx context.Context, app string, do func(*sessionRow) error) error {
	for after := int64(0); ; {
		var page []sessionRow
		err := u.db.Read(ctx, func(tx Tx) (err error) {
			page, err = All(tx, scanSession, selectSessionRows+`key > ? ORDER BY key LIMIT ?`, Text(app), after, eraseSessions)
			return err
		})
		for i := 0; i < len(page) && err == nil; i++ {
			after = page[i].key
			err = do(&page[i])
		}
		if err != nil || len(page) == 0 {
			return err
		}
	}
}

// eachRename calls do for each rename in sessions of an app, in one statement, because there are few.
func (u *Users) eachRename(ctx context.Context, app string, do func(session int64, user, alias string)) error {
	return u.db.Read(ctx, func(tx Tx) error {
		return tx.Each(func(row Row) error {
			var session int64
			var user, alias []byte
			err := row.Scan(&session, &user, &alias)
			if err == nil {
				do(session, string(user), string(alias))
			}
			return err
		}, `SELECT r.session, r.user_id, r.user_alias FROM {table rename} r {join} {table session} s ON s.key = r.session WHERE s.app_id = ?`, Text(app))
	})
}

// findSessions returns the keys of the sessions whose user has, or had, a name for which named is true. It calls link
// with all names in these sessions.
func (u *Users) findSessions(ctx context.Context, app string, named func(names ...string) bool, link func(names ...string)) (map[int64]bool, error) {
	own := map[int64]bool{}
	err := u.eachRename(ctx, app, func(session int64, user, alias string) {
		if named(user, alias) {
			own[session] = true
		}
	})
	if err != nil {
		return nil, err
	}
	err = u.eachSession(ctx, app, func(s *sessionRow) error {
		if own[s.key] || named(s.UserID, s.UserAlias) {
			own[s.key] = true
			link(s.UserID, s.UserAlias)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = u.eachRename(ctx, app, func(session int64, user, alias string) {
		if own[session] {
			link(user, alias)
		}
	})
	return own, err
}

// sessions finds the sessions of the user and erases them. First it saves their other names, which an
// erased session no longer has.
func (p *pass) sessions(ctx context.Context) error {
	own, err := p.findSessions(ctx, p.e.AppID, p.e.Names, p.e.Link)
	if err != nil {
		return err
	}
	if err := p.save(ctx, p.e); err != nil {
		return err
	}
	at := p.e.At.UnixMilli()
	p.e.Sessions = 0 // counted anew: an interrupted run did not save its count
	defer func() { p.discovered = map[[16]byte]bool{} }()
	return p.eachSession(ctx, p.e.AppID, func(s *sessionRow) error {
		mine := (own[s.key] || p.discovered[s.id]) && erasure.Began(s.id) < at
		next, changed, err := p.session(s.SessionRow, mine)
		if err != nil {
			return err
		}
		if next.UserID == p.e.Pseudonym {
			p.e.Sessions++
		}
		if !changed {
			return nil
		}
		return p.erasing.Locked(ctx, Lock{Session: s.key}, func(tx Tx) error { return p.updateSession(tx, s.key, mine) })
	})
}

// session returns a session's row with the erasure applied.
func (p *pass) session(row frames.SessionRow, own bool) (next frames.SessionRow, changed bool, err error) {
	ids := p.e.Find(own, nil)
	if next = row; own {
		next, err = ids.OwnSession(row, p.e.Pseudonym)
	} else {
		next.Details, _, err = ids.Details(row.Details)
	}
	return next, next != row, err
}

// updateSession updates the row of a session, which is locked, and the search terms of its conferences.
func (p *pass) updateSession(tx Tx, key int64, own bool) error {
	rows, err := All(tx, scanSession, selectSessionRows+`key = ?`, Text(p.e.AppID), key)
	if err != nil || len(rows) == 0 {
		return err
	}
	before := rows[0].SessionRow
	next, changed, err := p.session(before, own)
	if err != nil || !changed {
		return err
	}
	_, err = tx.Exec(`UPDATE {table session} SET user_id = ?, user_alias = ?, details = ? WHERE key = ?`,
		Text(next.UserID), Text(next.UserAlias), Text(next.Details), key)
	if err != nil {
		return err
	}
	conferences, err := All(tx, func(row Row) (c Loose, err error) {
		err = row.Scan(&c.Key, &c.Place)
		return c, err
	}, `SELECT c.key, c.place FROM {table participant} p {join} {table conference} c ON {place p c} c.key = p.conference WHERE p.session = ?`, key)
	for i := 0; i < len(conferences) && err == nil; i++ {
		err = p.replaceTerms(tx, conferences[i], before, next)
	}
	return err
}

// replaceTerms replaces the terms of a session by those of its new row. It keeps the terms of other participants
// and of records.
func (p *pass) replaceTerms(tx Tx, c Loose, before, next frames.SessionRow) error {
	remaining := map[term.Term]bool{}
	rows, err := All(tx, scanSession, `SELECT s.key, s.id, s.user_id, s.user_alias, s.details FROM {table participant} p
		{join} {table session} s ON s.key = p.session WHERE {of p} p.conference = ?`, Place(c.Place), c.Key)
	for i := 0; i < len(rows) && err == nil; i++ {
		var terms []term.Term
		terms, err = sessionTerms(p.e.AppID, rows[i].SessionRow)
		for _, t := range terms {
			remaining[t] = true
		}
	}
	if err != nil {
		return err
	}
	removed, err := sessionTerms(p.e.AppID, before)
	if err != nil {
		return err
	}
	e := executor{tx: tx}
	for _, t := range removed {
		if !remaining[t] {
			e.run(`DELETE FROM {table term} WHERE {of} conference = ? AND term = ? AND NOT recorded`, Place(c.Place), c.Key, int64(t))
		}
	}
	added, err := sessionTerms(p.e.AppID, next)
	for _, t := range added {
		e.run(insertTerm, int64(t), false, c.Place, c.Key)
	}
	return errors.Join(e.err, err)
}

func sessionTerms(app string, row frames.SessionRow) ([]term.Term, error) {
	details, err := erasure.ReadDetails(row.Details)
	return term.OfSession(app, row.UserID, row.UserAlias, details), err
}
