package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
)

var _ storage.Settings = (*Store)(nil)

const (
	settingColumns   = `SELECT kind, id, revision, changed_at, body FROM qos_setting WHERE kind = $1`
	settingsRevision = `SELECT revision FROM qos_setting_counter`
)

// SettingsRevision implements storage.Settings.
func (s *Store) SettingsRevision(ctx context.Context) (revision int64, err error) {
	err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, settingsRevision).Scan(&revision)
	})
	if err != nil {
		return 0, s.wrap("read settings", err)
	}
	return revision, nil
}

// SettingsSince implements storage.Settings.
func (s *Store) SettingsSince(ctx context.Context, kind string, revision int64) (c storage.SettingsChanges, err error) {
	err = s.view(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := tx.QueryRow(ctx, settingsRevision).Scan(&c.Revision); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM qos_setting WHERE kind = $1`, []byte(kind)).Scan(&c.Total); err != nil {
			return err
		}
		c.Changed, err = collectSettings(tx.Query(ctx, settingColumns+` AND revision > $2 ORDER BY id`, []byte(kind), revision))
		return err
	})
	if err != nil {
		return storage.SettingsChanges{}, s.wrap("read settings", err)
	}
	return c, nil
}

// SettingsPage implements storage.Settings.
func (s *Store) SettingsPage(ctx context.Context, kind, after string, limit int) (page []storage.Setting, err error) {
	err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		page, err = collectSettings(conn.Query(ctx, settingColumns+` AND id > $2 ORDER BY id LIMIT $3`, []byte(kind), []byte(after), storage.SettingsPageSize(limit)))
		return err
	})
	if err != nil {
		return nil, s.wrap("read settings", err)
	}
	return page, nil
}

func collectSettings(rows pgx.Rows, err error) (out []storage.Setting, _ error) {
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

func scanSetting(row pgx.Row) (s storage.Setting, err error) {
	var kind, id []byte
	var changedAt int64
	err = row.Scan(&kind, &id, &s.Revision, &changedAt, &s.Body)
	s.Kind, s.ID, s.ChangedAt = string(kind), string(id), time.UnixMilli(changedAt).UTC()
	return s, err
}

// Setting implements storage.Settings.
func (s *Store) Setting(ctx context.Context, kind, id string) (setting storage.Setting, err error) {
	err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		setting, err = scanSetting(conn.QueryRow(ctx, settingColumns+` AND id = $2`, []byte(kind), []byte(id)))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
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
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := checkSetting(ctx, tx, setting, s.options.maxSettings); err != nil {
			return err
		}
		next, err := nextSetting(ctx, tx)
		if err != nil {
			return err
		}
		revision = next
		_, err = tx.Exec(ctx, `INSERT INTO qos_setting (kind, id, revision, changed_at, body) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, changed_at = excluded.changed_at, body = excluded.body`,
			[]byte(setting.Kind), []byte(setting.ID), revision, setting.ChangedAt.UnixMilli(), setting.Body)
		return err
	})
	if err != nil {
		return 0, s.wrap("put setting", err)
	}
	return revision, nil
}

// lockSettings sees that a collector that stops in mid-transaction does not hold up the
// others for good.
const lockSettings = `SELECT revision, set_config('idle_in_transaction_session_timeout', $1, true) FROM qos_setting_counter FOR UPDATE`

// change runs a write with the counter locked, so that writes to settings come one after
// the other. A connection that proves lost is replaced once, but not where a commit was
// under way: it may have been made, and the same write again would be refused as one that
// comes too late.
func (s *Store) change(ctx context.Context, write func(context.Context, pgx.Tx) error) error {
	var uncertain error
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if uncertain != nil {
			return uncertain
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after the commit
		if _, err := tx.Exec(ctx, lockSettings, strconv.FormatInt((2*s.options.patience).Milliseconds(), 10)); err != nil {
			return err
		}
		if err := write(ctx, tx); err != nil {
			return err
		}
		uncertain = tx.Commit(ctx)
		return uncertain
	})
}

// checkSetting sees that s replaces what it means to, or has room.
func checkSetting(ctx context.Context, tx pgx.Tx, s storage.Setting, limit int) error {
	have, err := settingRevisionOf(ctx, tx, s.Kind, s.ID)
	if err != nil {
		return err
	}
	if have != s.Revision {
		return storage.ErrConflict
	}
	if have != 0 {
		return nil
	}
	var n int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM qos_setting WHERE kind = $1`, []byte(s.Kind)).Scan(&n); err != nil {
		return err
	}
	if n >= limit {
		return storage.ErrFull
	}
	return nil
}

// settingRevisionOf returns the revision of a setting, 0 where there is none.
func settingRevisionOf(ctx context.Context, tx pgx.Tx, kind, id string) (revision int64, err error) {
	err = tx.QueryRow(ctx, `SELECT revision FROM qos_setting WHERE kind = $1 AND id = $2`, []byte(kind), []byte(id)).Scan(&revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return revision, err
}

// nextSetting counts a write.
func nextSetting(ctx context.Context, tx pgx.Tx) (revision int64, err error) {
	err = tx.QueryRow(ctx, `UPDATE qos_setting_counter SET revision = revision + 1 RETURNING revision`).Scan(&revision)
	return revision, err
}

// DeleteSetting implements storage.Settings.
func (s *Store) DeleteSetting(ctx context.Context, kind, id string, revision int64) error {
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		have, err := settingRevisionOf(ctx, tx, kind, id)
		switch {
		case err != nil:
			return err
		case have == 0:
			return storage.ErrNoSetting
		case have != revision:
			return storage.ErrConflict
		}
		if _, err := nextSetting(ctx, tx); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM qos_setting WHERE kind = $1 AND id = $2`, []byte(kind), []byte(id))
		return err
	})
	if err != nil {
		return s.wrap("delete setting", err)
	}
	return nil
}
