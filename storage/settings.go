package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of settings. Bodies are small, since clients that poll read all changed ones.
const (
	MaxSettingKindBytes = 64
	MaxSettingBodyBytes = 256 << 10
	MaxSettings         = 20_000 // of one kind
	MaxSettingsPage     = 1000
)

// Errors of Settings, beside ErrInvalid.
var (
	// ErrNoSetting is returned if no setting has the kind and id.
	ErrNoSetting = errors.New("no such setting")
	// ErrConflict is returned if a setting is not at the expected revision: it
	// was changed, created or deleted meanwhile.
	ErrConflict = errors.New("the setting has changed meanwhile")
	// ErrFull is returned if the kind has MaxSettings settings.
	ErrFull = errors.New("there are too many settings of this kind")
)

// Setting is one small document of an installation's settings, for example an application. The
// store does not interpret the body.
type Setting struct {
	Kind      string // 1 to MaxSettingKindBytes
	ID        string // 1 to MaxIDBytes, any bytes
	Revision  int64  // of the last write to the setting, positive; later writes have higher revisions
	ChangedAt time.Time
	Body      []byte // 1 to MaxSettingBodyBytes
}

// Check returns an error that wraps ErrInvalid if an engine must not store s.
func (s *Setting) Check() error {
	switch {
	case s.Kind == "" || len(s.Kind) > MaxSettingKindBytes:
		return fmt.Errorf("%w: the kind of a setting has 1 to %d bytes (got %d)", ErrInvalid, MaxSettingKindBytes, len(s.Kind))
	case s.ID == "" || len(s.ID) > MaxIDBytes:
		return fmt.Errorf("%w: the id of a setting has 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(s.ID))
	case len(s.Body) == 0 || len(s.Body) > MaxSettingBodyBytes:
		return fmt.Errorf("%w: the body of a setting has 1 to %d bytes (got %d)", ErrInvalid, MaxSettingBodyBytes, len(s.Body))
	case s.Revision < 0:
		return fmt.Errorf("%w: revision %d", ErrInvalid, s.Revision)
	}
	return nil
}

// SettingsPageSize returns the maximum number of settings of a page for a requested limit;
// 0 means MaxSettingsPage.
func SettingsPageSize(limit int) int {
	if limit <= 0 || limit > MaxSettingsPage {
		return MaxSettingsPage
	}
	return limit
}

// SettingsChanges is the changes to the settings of a kind since a revision, as one
// snapshot. Changed has no deletions. A reader merges Changed into its copy of the settings;
// if the copy then has more than Total, it contains deleted ones, and the reader
// reads all again, since revision 0.
type SettingsChanges struct {
	Revision int64     // of the store, in the snapshot
	Changed  []Setting // with a higher revision than the given one, in order of id
	Total    int       // number of settings of the kind
}

// Settings stores settings. It is safe for concurrent use, by any number of
// processes that share the store: a write that returned nil is visible to all later reads.
type Settings interface {
	// SettingsRevision returns the revision of the last write to any setting, deletions
	// included; 0 before the first. It reads one small row: clients poll it, and read changes when it
	// differs from the last one. It is lower than before if the store was restored from a
	// backup: then clients read all settings.
	SettingsRevision(ctx context.Context) (int64, error)
	// SettingsSince returns the changes of a kind since a revision; 0: everything.
	SettingsSince(ctx context.Context, kind string, revision int64) (SettingsChanges, error)
	// SettingsPage returns settings of a kind in byte order of their ids: those after
	// an id (empty: from the start), at most SettingsPageSize(limit).
	SettingsPage(ctx context.Context, kind, after string, limit int) ([]Setting, error)
	// Setting returns one setting, or ErrNoSetting.
	Setting(ctx context.Context, kind, id string) (Setting, error)
	// PutSetting replaces the setting at the revision s.Revision by s, or creates it if that
	// is 0, and returns the new revision. It returns ErrConflict if the stored revision differs.
	// After any other error the write may have been made. Times have a precision of ms.
	PutSetting(ctx context.Context, s Setting) (revision int64, err error)
	// DeleteSetting deletes the setting if it is at the revision. Otherwise it returns ErrConflict, or
	// ErrNoSetting if it does not exist.
	DeleteSetting(ctx context.Context, kind, id string, revision int64) error
}
