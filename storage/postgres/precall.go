package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// writePreCalls runs a write of pre-call tests while the counter of the settings is locked against other writes, so that
// no erasure is registered meanwhile. It runs add once more where the server ended the transaction.
func (s *Store) writePreCalls(ctx context.Context, add func(sqlstore.Tx) error) (err error) {
	for range attempts {
		err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, `SELECT FROM qos_setting_counter FOR SHARE`); err != nil {
					return err
				}
				return add(asked{ctx, tx})
			})
		})
		if err == nil || !again(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// deletePreCalls deletes the pre-call tests that are old, in small transactions.
func deletePreCalls(ctx context.Context, conn *pgx.Conn, o old) error {
	for deleted := int64(1); deleted > 0; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			deleted, err = sqlstore.DeletePreCalls(asked{ctx, tx}, o.beforeMs, o.appID != nil, string(o.appID), deleteConferences)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
