package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of logins and audit entries.
const (
	LoginIDBytes      = 32
	MaxAuditBodyBytes = 8 << 10
	MaxAuditPage      = 200
)

// ErrNoLogin is returned where there is no login of an id.
var ErrNoLogin = errors.New("no such login")

// Login is one session of a user of the dashboard, from sign-in to sign-out.
type Login struct {
	ID         []byte // LoginIDBytes: a digest of the token that the browser has
	User       string // 1 to MaxIDBytes
	Generation int64  // of the user when they signed in
	Method     string // of sign-in, at most MaxIDBytes
	CreatedAt  time.Time
	SeenAt     time.Time // of the last request, at most some time ago
}

// Check returns an error that wraps ErrInvalid where an engine must not keep l.
func (l *Login) Check() error {
	switch {
	case len(l.ID) != LoginIDBytes:
		return fmt.Errorf("%w: the id of a login has %d bytes (got %d)", ErrInvalid, LoginIDBytes, len(l.ID))
	case l.User == "" || len(l.User) > MaxIDBytes:
		return fmt.Errorf("%w: the user of a login has 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(l.User))
	case len(l.Method) > MaxIDBytes:
		return fmt.Errorf("%w: the method of a login has at most %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(l.Method))
	}
	return nil
}

// AuditEntry is one line of the audit log. It never changes.
type AuditEntry struct {
	Key    int64 // of the row, assigned by AddAudit; later entries have higher keys
	At     time.Time
	Actor  string // user or token, at most MaxIDBytes; empty: unknown
	Action string // 1 to MaxIDBytes
	AppID  string // at most MaxIDBytes; empty: of no app
	Target string // of the action, a conferenceID for example; at most MaxIDBytes
	Body   []byte // details, at most MaxAuditBodyBytes
}

// Check returns an error that wraps ErrInvalid where an engine must not keep e.
func (e *AuditEntry) Check() error {
	for name, text := range map[string]string{"actor": e.Actor, "action": e.Action, "AppID": e.AppID, "target": e.Target} {
		if len(text) > MaxIDBytes {
			return fmt.Errorf("%w: the %s of an audit entry has at most %d bytes (got %d)", ErrInvalid, name, MaxIDBytes, len(text))
		}
	}
	if e.Action == "" {
		return fmt.Errorf("%w: an audit entry has an action", ErrInvalid)
	}
	if len(e.Body) > MaxAuditBodyBytes {
		return fmt.Errorf("%w: the body of an audit entry has at most %d bytes (got %d)", ErrInvalid, MaxAuditBodyBytes, len(e.Body))
	}
	return nil
}

// AuditQuery selects audit entries. Zero values do not narrow.
type AuditQuery struct {
	Actor  string
	Action string
	AppID  string
	Before int64 // continue after the entry of this key; 0: from the newest
	Limit  int   // 1 to MaxAuditPage; 0 means all that a page may have
}

// Accounts is the store's side for logins and the audit log. It is safe for concurrent use, by as
// many processes as share the store. Times are kept in ms. Users are settings.
type Accounts interface {
	// AddLogin writes a login. Where its user has most logins, it deletes those that were seen
	// longest ago.
	AddLogin(ctx context.Context, l Login, most int) error
	// Login returns one login, or ErrNoLogin.
	Login(ctx context.Context, id []byte) (Login, error)
	// SeeLogin raises SeenAt of a login. It does nothing without one.
	SeeLogin(ctx context.Context, id []byte, at time.Time) error
	// DeleteLogin deletes one login, if it is there.
	DeleteLogin(ctx context.Context, id []byte) error
	// DeleteLogins deletes the logins of a user but one; nil: all.
	DeleteLogins(ctx context.Context, user string, but []byte) error
	// ForgetLogins deletes logins that were created before a time or last seen before another.
	ForgetLogins(ctx context.Context, created, seen time.Time) error

	// AddAudit writes entries, all of them or none and an error.
	AddAudit(ctx context.Context, entries []AuditEntry) error
	// AuditPage returns entries, the newest first.
	AuditPage(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// ForgetAudit deletes entries from before a time, and all but the newest most.
	ForgetAudit(ctx context.Context, before time.Time, most int64) error
}
