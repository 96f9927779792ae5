package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// writePreCalls runs a write of pre-call tests with a shared lock on the counter of the settings, so that
// no erasure is registered meanwhile. It retries when the server ended the transaction.
func (s *Store) writePreCalls(ctx context.Context, add func(sqlstore.Tx) error) (err error) {
	for range attempts {
		err = s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, `SELECT FROM qos_setting_counter FOR SHARE`); err != nil {
					return err
				}
				return add(querier{ctx, tx})
			})
		})
		if err == nil || !retryable(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// deletePreCalls deletes the pre-call tests that d selects, in small transactions.
func deletePreCalls(ctx context.Context, conn *pgx.Conn, d deletion) error {
	for deleted := int64(1); deleted > 0; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			deleted, err = sqlstore.DeletePreCalls(querier{ctx, tx}, d.beforeMs, d.appID != nil, string(d.appID), deleteConferences)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
