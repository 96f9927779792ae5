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

// ErrNoLogin is returned if no login has the id.
var ErrNoLogin = errors.New("no such login")

// Login is one session of a user of the dashboard, from sign-in to sign-out.
type Login struct {
	ID         []byte // LoginIDBytes: a digest of the browser's token
	User       string // 1 to MaxIDBytes
	Generation int64  // of the user at sign-in
	Method     string // of sign-in, at most MaxIDBytes
	CreatedAt  time.Time
	SeenAt     time.Time // of a recent request
}

// Check returns an error that wraps ErrInvalid if an engine must not store l.
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
	AppID  string // at most MaxIDBytes; empty: no app
	Target string // of the action, a conferenceID for example; at most MaxIDBytes
	Body   []byte // details, at most MaxAuditBodyBytes
}

// Check returns an error that wraps ErrInvalid if an engine must not store e.
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
	Limit  int   // 1 to MaxAuditPage; 0 means MaxAuditPage
}

// Accounts stores logins and the audit log. It is safe for concurrent use, by any number
// of processes that share the store. Times have a precision of ms. Users are settings.
type Accounts interface {
	// AddLogin adds a login. If its user already has most logins, it deletes those with the
	// lowest SeenAt.
	AddLogin(ctx context.Context, l Login, most int) error
	// Login returns one login, or ErrNoLogin.
	Login(ctx context.Context, id []byte) (Login, error)
	// SeeLogin raises SeenAt of a login. It does nothing if the login does not exist.
	SeeLogin(ctx context.Context, id []byte, at time.Time) error
	// DeleteLogin deletes one login, if it exists.
	DeleteLogin(ctx context.Context, id []byte) error
	// DeleteLogins deletes the logins of a user except one; nil: all.
	DeleteLogins(ctx context.Context, user string, but []byte) error
	// ForgetLogins deletes logins that were created before a time, and those last seen before another.
	ForgetLogins(ctx context.Context, created, seen time.Time) error

	// AddAudit adds all entries, or none and returns an error.
	AddAudit(ctx context.Context, entries []AuditEntry) error
	// AuditPage returns entries, the newest first.
	AuditPage(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// ForgetAudit deletes entries from before a time, and all except the newest most.
	ForgetAudit(ctx context.Context, before time.Time, most int64) error
}
