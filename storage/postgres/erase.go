package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// erasing returns the functions of this engine that erasures need. Reload does nothing: every transaction of
// a writer compares the revision of the settings and reads the erasures if it has changed.
func (s *Store) erasing() sqlstore.Erasing {
	return sqlstore.Erasing{
		Locked: s.withLocks, Rewrite: s.vacuum, Reload: func(context.Context) error { return nil }, Changed: func() { s.notifier.requestCatchUp() },
	}
}

// withLocks runs write in a transaction that holds lock. It retries when the server ended the transaction.
func (s *Store) withLocks(ctx context.Context, lock sqlstore.Lock, write func(sqlstore.Tx) error) (err error) {
	for range attempts {
		err = s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if err := lockFor(ctx, tx, lock); err != nil {
					return err
				}
				return write(querier{ctx, tx})
			})
		})
		if err == nil || !retryable(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// lockFor takes the locks in the order of the writers: sessions, then rows of qos_place.
func lockFor(ctx context.Context, tx pgx.Tx, lock sqlstore.Lock) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config(name, 'off', true) FROM unnest($1::text[]) name`, indexOnly)
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

// vacuum frees the space of erased rows, and replaces the planner's samples of their values.
// VACUUM FULL blocks all other access, so it is left to the operator (docs/privacy.md).
func (s *Store) vacuum(ctx context.Context) error {
	return s.read.withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `VACUUM (ANALYZE) qos_session, qos_rename, qos_term, qos_conference, qos_document, qos_audit, qos_precall, qos_precall_term, qos_frame, qos_chunk`)
		return err
	})
}

// readRevision reads the revision of the settings, the last row that begin reads.
func (t *tx) readRevision(row pgx.Row) error { return row.Scan(&t.revision) }

// readErasures reads the erasures if the settings have changed since the last read.
func (t *tx) readErasures() error {
	if t.w.late != nil && t.w.late.Revision == t.revision {
		return nil
	}
	all, _, err := sqlstore.Erasures(querier{t.ctx, t.w.conn})
	if err == nil {
		t.w.late = erasure.NewLate(t.revision, all)
	}
	return err
}

// lateBatch returns b with the erasures applied that concern it.
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
			return sqlstore.TakesPart(querier{t.ctx, t.w.conn}, place, at, user)
		},
	})
}
