package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of settings. Bodies are small: who polls reads all that changed.
const (
	MaxSettingKindBytes = 64
	MaxSettingBodyBytes = 256 << 10
	MaxSettings         = 20_000 // of one kind
	MaxSettingsPage     = 1000
)

// Errors of Settings, beside ErrInvalid.
var (
	// ErrNoSetting says that there is no setting of that kind and id.
	ErrNoSetting = errors.New("no such setting")
	// ErrConflict says that a setting is not at the revision that was to be replaced: it
	// was changed, made or deleted meanwhile.
	ErrConflict = errors.New("the setting has changed meanwhile")
	// ErrFull says that there are MaxSettings of the kind.
	ErrFull = errors.New("there are too many settings of this kind")
)

// Setting is one small document of an installation's settings: an application, say. The
// body is the writer's affair.
type Setting struct {
	Kind      string // 1 to MaxSettingKindBytes
	ID        string // 1 to MaxIDBytes, any bytes
	Revision  int64  // of the write that made it what it is, positive; later writes have higher ones
	ChangedAt time.Time
	Body      []byte // 1 to MaxSettingBodyBytes
}

// Check returns an error that wraps ErrInvalid where an engine must not keep s.
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

// SettingsPageSize is the number of settings that a page has at most, for a limit asked
// for: 0 means all that a page may have.
func SettingsPageSize(limit int) int {
	if limit <= 0 || limit > MaxSettingsPage {
		return MaxSettingsPage
	}
	return limit
}

// SettingsChanges is what became of the settings of a kind since a revision, as one
// moment saw them. Deletions are not among Changed: who holds what was there before and
// merges Changed has deleted ones left over where he then has more than Total, and reads
// all anew, since revision 0.
type SettingsChanges struct {
	Revision int64     // of the store, at that moment
	Changed  []Setting // with a higher revision than asked for, in the order of their ids
	Total    int       // settings of the kind that there are
}

// Settings is the store's side for settings. It is safe for concurrent use, by as many
// processes as share the store: a write is either seen by all that read later, or an error.
type Settings interface {
	// SettingsRevision returns the revision of the last write to any setting, deletions
	// too; 0 before the first. It reads one small row: poll it, and read changes when it is
	// another one than before. It is lower than before where a store was restored from a
	// copy: then read all.
	SettingsRevision(ctx context.Context) (int64, error)
	// SettingsSince returns what changed of a kind since a revision; 0: everything.
	SettingsSince(ctx context.Context, kind string, revision int64) (SettingsChanges, error)
	// SettingsPage returns settings of a kind in the order of their ids' bytes, those after
	// an id (empty: from the start), at most SettingsPageSize(limit).
	SettingsPage(ctx context.Context, kind, after string, limit int) ([]Setting, error)
	// Setting returns one setting, or ErrNoSetting.
	Setting(ctx context.Context, kind, id string) (Setting, error)
	// PutSetting writes s in place of what has the revision s.Revision, or makes it where
	// that is 0, and returns its new revision; ErrConflict where something else is there.
	// When it returns another error the write may still have been made. Times are kept in ms.
	PutSetting(ctx context.Context, s Setting) (revision int64, err error)
	// DeleteSetting deletes what has the revision, else it returns ErrConflict, or
	// ErrNoSetting where there is nothing.
	DeleteSetting(ctx context.Context, kind, id string, revision int64) error
}
