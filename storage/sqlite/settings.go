package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage"
)

var _ storage.Settings = (*Store)(nil)

const settingColumns = `SELECT kind, id, revision, changed_at, body FROM setting WHERE kind = ?`

// SettingsRevision implements storage.Settings.
func (s *Store) SettingsRevision(ctx context.Context) (revision int64, err error) {
	if err := s.read.QueryRowContext(ctx, settingsRevision).Scan(&revision); err != nil {
		return 0, s.wrap("read settings", err)
	}
	return revision, nil
}

const settingsRevision = `SELECT revision FROM setting_counter`

// SettingsSince implements storage.Settings.
func (s *Store) SettingsSince(ctx context.Context, kind string, revision int64) (c storage.SettingsChanges, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		if err := tx.QueryRowContext(ctx, settingsRevision).Scan(&c.Revision); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM setting WHERE kind = ?`, kind).Scan(&c.Total); err != nil {
			return err
		}
		c.Changed, err = scanSettings(ctx, tx, settingColumns+` AND revision > ? ORDER BY id`, kind, revision)
		return err
	})
	if err != nil {
		return storage.SettingsChanges{}, s.wrap("read settings", err)
	}
	return c, nil
}

// SettingsPage implements storage.Settings.
func (s *Store) SettingsPage(ctx context.Context, kind, after string, limit int) (page []storage.Setting, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		page, err = scanSettings(ctx, tx, settingColumns+` AND id > ? ORDER BY id LIMIT ?`, kind, []byte(after), storage.SettingsPageSize(limit))
		return err
	})
	if err != nil {
		return nil, s.wrap("read settings", err)
	}
	return page, nil
}

func scanSettings(ctx context.Context, tx *sql.Tx, query string, args ...any) (out []storage.Setting, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		setting, err := scanSetting(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, setting)
	}
	return out, rows.Err()
}

func scanSetting(row scanner) (s storage.Setting, err error) {
	var id []byte
	var changedAt int64
	err = row.Scan(&s.Kind, &id, &s.Revision, &changedAt, &s.Body)
	s.ID, s.ChangedAt = string(id), time.UnixMilli(changedAt).UTC()
	return s, err
}

// Setting implements storage.Settings.
func (s *Store) Setting(ctx context.Context, kind, id string) (storage.Setting, error) {
	setting, err := scanSetting(s.read.QueryRowContext(ctx, settingColumns+` AND id = ?`, kind, []byte(id)))
	if errors.Is(err, sql.ErrNoRows) {
		err = storage.ErrNoSetting
	}
	if err != nil {
		return storage.Setting{}, s.wrap("read setting", err)
	}
	return setting, nil
}

// PutSetting implements storage.Settings.
func (s *Store) PutSetting(ctx context.Context, setting storage.Setting) (int64, error) {
	if err := setting.Check(); err != nil {
		return 0, s.wrap("put setting", err)
	}
	var revision int64
	err := s.change(ctx, func(t *tx) (fault, err error) {
		revision, fault, err = t.putSetting(setting, s.maxSettings)
		return fault, err
	})
	if err != nil {
		return 0, s.wrap("put setting", err)
	}
	return revision, nil
}

// change runs a job whose fault is the caller's alone: it has written nothing, and takes
// none of the jobs that share its transaction with it.
func (s *Store) change(ctx context.Context, run func(*tx) (fault, err error)) error {
	var fault error
	err := s.writer.do(ctx, job{run: func(t *tx) (err error) {
		fault, err = run(t)
		return err
	}})
	if err != nil {
		return err
	}
	return fault
}

func (t *tx) putSetting(s storage.Setting, limit int) (revision int64, fault, err error) {
	fault, err = t.checkSetting(s, limit)
	if fault != nil || err != nil {
		return 0, fault, err
	}
	if revision, err = t.nextSetting(); err != nil {
		return 0, nil, err
	}
	return revision, nil, t.exec(`INSERT INTO setting (kind, id, revision, changed_at, body) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, changed_at = excluded.changed_at, body = excluded.body`,
		s.Kind, []byte(s.ID), revision, s.ChangedAt.UnixMilli(), s.Body)
}

// checkSetting sees that s replaces what it means to, or has room.
func (t *tx) checkSetting(s storage.Setting, limit int) (fault, err error) {
	have, err := t.settingRevision(s.Kind, s.ID)
	if err != nil || have != s.Revision {
		return storage.ErrConflict, err
	}
	if have != 0 {
		return nil, nil
	}
	var n int
	if err := t.row(`SELECT count(*) FROM setting WHERE kind = ?`, s.Kind).Scan(&n); err != nil {
		return nil, err
	}
	if n >= limit {
		return storage.ErrFull, nil
	}
	return nil, nil
}

// settingRevision returns the revision of a setting, 0 where there is none.
func (t *tx) settingRevision(kind, id string) (revision int64, err error) {
	err = t.row(`SELECT revision FROM setting WHERE kind = ? AND id = ?`, kind, []byte(id)).Scan(&revision)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return revision, err
}

// nextSetting counts a write.
func (t *tx) nextSetting() (revision int64, err error) {
	err = t.row(`UPDATE setting_counter SET revision = revision + 1 RETURNING revision`).Scan(&revision)
	return revision, err
}

// DeleteSetting implements storage.Settings.
func (s *Store) DeleteSetting(ctx context.Context, kind, id string, revision int64) error {
	err := s.change(ctx, func(t *tx) (fault, err error) {
		have, err := t.settingRevision(kind, id)
		switch {
		case err != nil:
			return nil, err
		case have == 0:
			return storage.ErrNoSetting, nil
		case have != revision:
			return storage.ErrConflict, nil
		}
		if _, err := t.nextSetting(); err != nil {
			return nil, err
		}
		return nil, t.exec(`DELETE FROM setting WHERE kind = ? AND id = ?`, kind, []byte(id))
	})
	if err != nil {
		return s.wrap("delete setting", err)
	}
	return nil
}
