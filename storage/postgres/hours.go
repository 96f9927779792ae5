package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// settlePause is the polling interval of settle. Most transactions take a few ms.
const settlePause = 20 * time.Millisecond

// hourWriter returns the functions of this engine that the columns of hours need.
func (s *Store) hourWriter() sqlstore.HourWriter {
	return sqlstore.HourWriter{
		Write: func(ctx context.Context, write func(sqlstore.Tx) error) error {
			return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return write(querier{ctx, tx}) })
			})
		},
		Settle: s.settle,
	}
}

// settle waits until all transactions that have a transaction ID now have ended, in all databases of the server.
// Read-only transactions have none. It assigns itself an ID, which is higher than all others, and polls the xmin of
// snapshots until it has reached that ID.
func (s *Store) settle(ctx context.Context) error {
	return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var next int64
		if err := conn.QueryRow(ctx, `SELECT pg_current_xact_id()::text::bigint`).Scan(&next); err != nil {
			return err
		}
		for settled := false; ; {
			err := conn.QueryRow(ctx, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1`, next).Scan(&settled)
			if err != nil || settled {
				return err
			}
			select {
			case <-time.After(settlePause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}
