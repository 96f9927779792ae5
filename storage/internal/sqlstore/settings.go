package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage"
)

// Settings implements storage.Settings.
type Settings struct {
	db    DB
	limit int // maximum number of settings of one kind
}

// NewSettings returns the Settings of a store, with at most limit of one kind.
func NewSettings(db DB, limit int) *Settings { return &Settings{db, limit} }

var _ storage.Settings = (*Settings)(nil)

// The statements of settings.
const (
	SettingsRevision = `SELECT revision FROM {table setting_counter}`
	SettingsCount    = `SELECT count(*) FROM {table setting} WHERE kind = ?`
	SettingsAfter    = selectSettings + ` AND revision > ? ORDER BY id`

	selectSettings = `SELECT kind, id, revision, changed_at, body FROM {table setting} WHERE kind = ?`
	putSetting     = `INSERT INTO {table setting} (kind, id, revision, changed_at, body) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, changed_at = excluded.changed_at, body = excluded.body`
)

// SettingsRefused reports whether a write to settings or notices was refused because of stored data.
// Then it has written nothing.
func SettingsRefused(err error) bool {
	for _, refusal := range []error{storage.ErrConflict, storage.ErrFull, storage.ErrNoSetting, storage.ErrNoNotice} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// SettingsRevision implements storage.Settings.
func (s *Settings) SettingsRevision(ctx context.Context) (revision int64, err error) {
	err = s.db.Read(ctx, func(tx Tx) error {
		_, err := One(tx, []any{&revision}, SettingsRevision)
		return err
	})
	if err != nil {
		return 0, s.db.Wrap("read settings", err)
	}
	return revision, nil
}

// SettingsSince implements storage.Settings.
func (s *Settings) SettingsSince(ctx context.Context, kind string, revision int64) (c storage.SettingsChanges, err error) {
	err = s.db.View(ctx, func(tx Tx) (err error) {
		if _, err := One(tx, []any{&c.Revision}, SettingsRevision); err != nil {
			return err
		}
		if _, err := One(tx, []any{&c.Total}, SettingsCount, Text(kind)); err != nil {
			return err
		}
		c.Changed, err = All(tx, scanSetting, SettingsAfter, Text(kind), revision)
		return err
	})
	if err != nil {
		return storage.SettingsChanges{}, s.db.Wrap("read settings", err)
	}
	return c, nil
}

// SettingsPage implements storage.Settings.
func (s *Settings) SettingsPage(ctx context.Context, kind, after string, limit int) (page []storage.Setting, err error) {
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		page, err = All(tx, scanSetting, selectSettings+` AND id > ? ORDER BY id LIMIT ?`, Text(kind), []byte(after), storage.SettingsPageSize(limit))
		return err
	})
	if err != nil {
		return nil, s.db.Wrap("read settings", err)
	}
	return page, nil
}

func scanSetting(row Row) (s storage.Setting, err error) {
	var kind, id []byte
	var changedAt int64
	err = row.Scan(&kind, &id, &s.Revision, &changedAt, &s.Body)
	s.Kind, s.ID, s.ChangedAt = string(kind), string(id), time.UnixMilli(changedAt).UTC()
	return s, err
}

// Setting implements storage.Settings.
func (s *Settings) Setting(ctx context.Context, kind, id string) (storage.Setting, error) {
	var found []storage.Setting
	err := s.db.Read(ctx, func(tx Tx) (err error) {
		found, err = All(tx, scanSetting, selectSettings+` AND id = ?`, Text(kind), []byte(id))
		return err
	})
	if err == nil && len(found) == 0 {
		err = storage.ErrNoSetting
	}
	if err != nil {
		return storage.Setting{}, s.db.Wrap("read setting", err)
	}
	return found[0], nil
}

// PutSetting implements storage.Settings.
func (s *Settings) PutSetting(ctx context.Context, setting storage.Setting) (int64, error) {
	if err := setting.Check(); err != nil {
		return 0, s.db.Wrap("put setting", err)
	}
	var revision int64
	err := s.db.Change(ctx, func(tx Tx) error {
		if err := s.check(tx, setting); err != nil {
			return err
		}
		next, err := nextRevision(tx)
		if err != nil {
			return err
		}
		revision = next
		_, err = tx.Exec(putSetting, Text(setting.Kind), []byte(setting.ID), revision, setting.ChangedAt.UnixMilli(), setting.Body)
		return err
	})
	if err != nil {
		return 0, s.db.Wrap("put setting", err)
	}
	return revision, nil
}

// check checks the revision of a setting that is to be replaced, or the limit for a new one.
func (s *Settings) check(tx Tx, setting storage.Setting) error {
	have, err := revisionOf(tx, setting.Kind, setting.ID)
	if err != nil {
		return err
	}
	if have != setting.Revision {
		return storage.ErrConflict
	}
	if have != 0 {
		return nil
	}
	var n int
	if _, err := One(tx, []any{&n}, SettingsCount, Text(setting.Kind)); err != nil {
		return err
	}
	if n >= s.limit {
		return storage.ErrFull
	}
	return nil
}

// revisionOf returns the revision of a setting, 0 if it does not exist.
func revisionOf(tx Tx, kind, id string) (revision int64, err error) {
	_, err = One(tx, []any{&revision}, `SELECT revision FROM {table setting} WHERE kind = ? AND id = ?`, Text(kind), []byte(id))
	return revision, err
}

// nextRevision increments the revision and returns it.
func nextRevision(tx Tx) (revision int64, err error) {
	_, err = One(tx, []any{&revision}, `UPDATE {table setting_counter} SET revision = revision + 1 RETURNING revision`)
	return revision, err
}

// DeleteSetting implements storage.Settings.
func (s *Settings) DeleteSetting(ctx context.Context, kind, id string, revision int64) error {
	err := s.db.Change(ctx, func(tx Tx) error {
		have, err := revisionOf(tx, kind, id)
		switch {
		case err != nil:
			return err
		case have == 0:
			return storage.ErrNoSetting
		case have != revision:
			return storage.ErrConflict
		}
		if _, err := nextRevision(tx); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM {table setting} WHERE kind = ? AND id = ?`, Text(kind), []byte(id))
		return err
	})
	if err != nil {
		return s.db.Wrap("delete setting", err)
	}
	return nil
}
