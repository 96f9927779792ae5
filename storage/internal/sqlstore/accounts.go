package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
)

// Accounts implements storage.Accounts.
type Accounts struct {
	db DB

	mu   sync.Mutex
	late *erasure.Late // erasures to apply to new audit entries
}

// NewAccounts returns the Accounts of a store.
func NewAccounts(db DB) *Accounts { return &Accounts{db: db} }

var _ storage.Accounts = (*Accounts)(nil)

// The statements of logins and audit entries.
const (
	LoginByID = `SELECT id, user_name, generation, method, created_at, seen_at FROM {table login} WHERE id = ?`

	addLogin = `INSERT INTO {table login} (id, user_name, generation, method, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?)`
	// deleteOldLogins deletes the logins of a user beyond a number, those with the lowest seen_at.
	deleteOldLogins = `DELETE FROM {table login} WHERE user_name = ? AND id IN (SELECT id FROM {table login} WHERE user_name = ? ORDER BY seen_at DESC, id LIMIT ? OFFSET ?)`
	selectAudit     = `SELECT key, at, actor, action, app_id, target, body FROM {table audit}`
	addAudit        = `INSERT INTO {table audit} (at, actor, action, app_id, target, body) VALUES (?, ?, ?, ?, ?, ?)`
)

// maxLogins bounds the logins of a user that one statement deletes.
const maxLogins = 10_000

func (s *Accounts) change(ctx context.Context, operation string, write func(Tx) error) error {
	if err := s.db.Change(ctx, write); err != nil {
		return s.db.Wrap(operation, err)
	}
	return nil
}

// exec runs one statement as a change.
func (s *Accounts) exec(ctx context.Context, operation, statement string, values ...any) error {
	return s.change(ctx, operation, func(tx Tx) error {
		_, err := tx.Exec(statement, values...)
		return err
	})
}

// AddLogin implements storage.Accounts.
func (s *Accounts) AddLogin(ctx context.Context, l storage.Login, most int) error {
	if err := l.Check(); err != nil {
		return s.db.Wrap("add login", err)
	}
	return s.change(ctx, "add login", func(tx Tx) error {
		if _, err := tx.Exec(deleteOldLogins, Text(l.User), Text(l.User), maxLogins, max(0, most-1)); err != nil {
			return err
		}
		_, err := tx.Exec(addLogin, l.ID, Text(l.User), l.Generation, Text(l.Method), l.CreatedAt.UnixMilli(), l.SeenAt.UnixMilli())
		return err
	})
}

// Login implements storage.Accounts.
func (s *Accounts) Login(ctx context.Context, id []byte) (storage.Login, error) {
	var found []storage.Login
	err := s.db.Read(ctx, func(tx Tx) (err error) {
		found, err = All(tx, scanLogin, LoginByID, id)
		return err
	})
	if err == nil && len(found) == 0 {
		err = storage.ErrNoLogin
	}
	if err != nil {
		return storage.Login{}, s.db.Wrap("read login", err)
	}
	return found[0], nil
}

func scanLogin(row Row) (l storage.Login, err error) {
	var user, method []byte
	var created, seen int64
	err = row.Scan(&l.ID, &user, &l.Generation, &method, &created, &seen)
	l.User, l.Method, l.CreatedAt, l.SeenAt = string(user), string(method), utc(created), utc(seen)
	return l, err
}

// SeeLogin implements storage.Accounts.
func (s *Accounts) SeeLogin(ctx context.Context, id []byte, at time.Time) error {
	return s.exec(ctx, "see login", `UPDATE {table login} SET seen_at = ? WHERE id = ? AND seen_at < ?`, at.UnixMilli(), id, at.UnixMilli())
}

// DeleteLogin implements storage.Accounts.
func (s *Accounts) DeleteLogin(ctx context.Context, id []byte) error {
	return s.exec(ctx, "delete login", `DELETE FROM {table login} WHERE id = ?`, id)
}

// DeleteLogins implements storage.Accounts.
func (s *Accounts) DeleteLogins(ctx context.Context, user string, but []byte) error {
	if but == nil {
		but = []byte{}
	}
	return s.exec(ctx, "delete logins", `DELETE FROM {table login} WHERE user_name = ? AND id <> ?`, Text(user), but)
}

// ForgetLogins implements storage.Accounts.
func (s *Accounts) ForgetLogins(ctx context.Context, created, seen time.Time) error {
	return s.exec(ctx, "forget logins", `DELETE FROM {table login} WHERE created_at < ? OR seen_at < ?`, created.UnixMilli(), seen.UnixMilli())
}

// AddAudit implements storage.Accounts.
func (s *Accounts) AddAudit(ctx context.Context, entries []storage.AuditEntry) error {
	for i := range entries {
		if err := entries[i].Check(); err != nil {
			return s.db.Wrap("add audit entries", err)
		}
	}
	return s.change(ctx, "add audit entries", func(tx Tx) error {
		entries, err := s.applyErasures(tx, entries)
		if err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			if _, err := tx.Exec(addAudit, e.At.UnixMilli(), Text(e.Actor), Text(e.Action), Text(e.AppID), Text(e.Target), append([]byte{}, e.Body...)); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyErasures returns entries with the erasures of the store applied. It reads the erasures again if the settings
// have changed.
func (s *Accounts) applyErasures(tx Tx, entries []storage.AuditEntry) ([]storage.AuditEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var revision int64
	if _, err := One(tx, []any{&revision}, SettingsRevision); err != nil {
		return nil, err
	}
	if s.late == nil || s.late.Revision != revision {
		all, revision, err := Erasures(tx)
		if err != nil {
			return nil, err
		}
		s.late = erasure.NewLate(revision, all)
	}
	out := make([]storage.AuditEntry, len(entries))
	for i := range entries {
		out[i] = s.late.Entry(entries[i])
	}
	return out, nil
}

// AuditPage implements storage.Accounts.
func (s *Accounts) AuditPage(ctx context.Context, q storage.AuditQuery) (page []storage.AuditEntry, err error) {
	statement, values := selectAudit+` WHERE `, []any{}
	for _, c := range []struct{ column, value string }{{"actor", q.Actor}, {"action", q.Action}, {"app_id", q.AppID}} {
		if c.value != "" {
			statement, values = statement+c.column+` = ? AND `, append(values, Text(c.value))
		}
	}
	if q.Before <= 0 {
		q.Before = 1<<63 - 1
	}
	if q.Limit <= 0 || q.Limit > storage.MaxAuditPage {
		q.Limit = storage.MaxAuditPage
	}
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		page, err = All(tx, scanAudit, statement+`key < ? ORDER BY key DESC LIMIT ?`, append(values, q.Before, q.Limit)...)
		return err
	})
	if err != nil {
		return nil, s.db.Wrap("read audit entries", err)
	}
	return page, nil
}

func scanAudit(row Row) (e storage.AuditEntry, err error) {
	var actor, action, app, target []byte
	var at int64
	err = row.Scan(&e.Key, &at, &actor, &action, &app, &target, &e.Body)
	e.At, e.Actor, e.Action, e.AppID, e.Target = utc(at), string(actor), string(action), string(app), string(target)
	return e, err
}

// ForgetAudit implements storage.Accounts.
func (s *Accounts) ForgetAudit(ctx context.Context, before time.Time, most int64) error {
	return s.change(ctx, "forget audit entries", func(tx Tx) error {
		if _, err := tx.Exec(`DELETE FROM {table audit} WHERE at < ?`, before.UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM {table audit} WHERE key <= (SELECT coalesce(max(key), 0) FROM {table audit}) - ?`, most)
		return err
	})
}
