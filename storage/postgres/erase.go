package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// erasing is what this engine adds to its database for erasures. Every transaction of a writer reads the
// revision of the settings after it has locked its places, and the erasures where it is another one.
func (s *Store) erasing() sqlstore.Erasing {
	return sqlstore.Erasing{
		Locked: s.locked, Rewrite: s.vacuum, Reload: func(context.Context) error { return nil }, Changed: func() { s.notifier.lose() },
	}
}

// locked runs write once more where the server ended the transaction.
func (s *Store) locked(ctx context.Context, lock sqlstore.Lock, write func(sqlstore.Tx) error) (err error) {
	for range attempts {
		err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if err := lockFor(ctx, tx, lock); err != nil {
					return err
				}
				return write(asked{ctx, tx})
			})
		})
		if err == nil || !again(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// lockFor locks in the order of the writers: sessions, then places.
func lockFor(ctx context.Context, tx pgx.Tx, lock sqlstore.Lock) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config(name, 'off', true) FROM unnest($1::text[]) name`, byIndex)
	if lock.Session != 0 {
		b.Queue(`SELECT FROM qos_session WHERE key = $1 FOR UPDATE`, lock.Session)
		b.Queue(`SELECT FROM qos_place WHERE key IN (SELECT place FROM qos_participant WHERE session = $1) ORDER BY key FOR UPDATE`, lock.Session)
	}
	if lock.Place != 0 {
		b.Queue(`SELECT pg_advisory_xact_lock($1, ($2::bigint % 2147483647)::int)`, lockPack, lock.Place)
		b.Queue(`SELECT FROM qos_place WHERE key = $1 FOR UPDATE`, lock.Place)
	}
	return tx.SendBatch(ctx, b).Close()
}

// vacuum frees what erased rows were for new ones, and replaces the samples of values that the planner keeps.
// VACUUM FULL, which locks out all others, is the operator's (docs/privacy.md).
func (s *Store) vacuum(ctx context.Context) error {
	return s.read.with(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `VACUUM (ANALYZE) qos_session, qos_rename, qos_term, qos_conference, qos_document, qos_audit, qos_precall, qos_precall_term, qos_frame, qos_chunk`)
		return err
	})
}

// readRevision takes in the revision of the settings, which begin reads last.
func (t *tx) readRevision(row pgx.Row) error { return row.Scan(&t.revision) }

// readErasures reads the erasures where the settings have changed.
func (t *tx) readErasures() error {
	if t.w.late != nil && t.w.late.Revision == t.revision {
		return nil
	}
	all, _, err := sqlstore.Erasures(asked{t.ctx, t.w.conn})
	if err == nil {
		t.w.late = erasure.NewLate(t.revision, all)
	}
	return err
}

// lateBatch returns a batch as it is to be written, after the erasures that it is subject to.
func (t *tx) lateBatch(b *frames.Prepared) (*frames.Prepared, error) {
	if !t.w.late.Concerns(b) {
		return b, nil
	}
	return t.w.late.Batch(b, erasure.Stored{
		Session: func() (frames.SessionRow, error) { return t.rows[t.w.sessions[b.Session].key], nil },
		TakesPart: func(place frames.PlaceID, at int64, user string) (bool, error) {
			if err := t.flush(); err != nil {
				return false, err
			}
			return sqlstore.TakesPart(asked{t.ctx, t.w.conn}, place, at, user)
		},
	})
}
