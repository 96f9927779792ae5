package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// erasing returns the functions of this engine that erasures need.
func (s *Store) erasing() sqlstore.Erasing {
	return sqlstore.Erasing{
		Locked: func(ctx context.Context, _ sqlstore.Lock, write func(sqlstore.Tx) error) error {
			s.sweep.Lock()
			defer s.sweep.Unlock()
			return s.writer.do(context.WithoutCancel(ctx), job{run: func(t *tx) error {
				t.clearCaches() // its caches become outdated
				return write(t.querier())
			}})
		},
		Rewrite: func(ctx context.Context) error {
			s.sweep.Lock()
			defer s.sweep.Unlock()
			return s.writer.do(context.WithoutCancel(ctx), job{alone: rewrite})
		},
		Reload:  s.reload,
		Changed: s.hub.Gap,
	}
}

// reload makes the writer read the erasures.
func (s *Store) reload(ctx context.Context) error {
	return s.writer.do(context.WithoutCancel(ctx), job{run: func(t *tx) error {
		all, revision, err := sqlstore.Erasures(t.querier())
		if err == nil {
			t.late = erasure.NewLate(revision, all)
		}
		return err
	}})
}

var errReaders = errors.New("readers of the store kept the log from being emptied: the next run tries again")

// rewrite rewrites all pages of the file and truncates the log, so that neither contains deleted or
// replaced data. Writes wait meanwhile.
func rewrite(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	var busy, pages, moved int
	if err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errReaders
	}
	return nil
}

// lateBatch returns b with the erasures applied that concern it.
func (t *tx) lateBatch(b *frames.Prepared) (*frames.Prepared, error) {
	if !t.late.Concerns(b) {
		return b, nil
	}
	return t.late.Batch(b, erasure.Stored{
		Session: func() (row frames.SessionRow, err error) {
			_, err = sqlstore.One(t.querier(), []any{&row.UserID, &row.UserAlias, &row.Details},
				`SELECT user_id, user_alias, details FROM session WHERE app_id = ? AND id = ?`, b.Session.App, b.Session.ID[:])
			return row, err
		},
		TakesPart: func(place frames.PlaceID, at int64, user string) (bool, error) {
			return sqlstore.TakesPart(t.querier(), place, at, user)
		},
	})
}
