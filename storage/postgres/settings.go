package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// settings, notices, accounts, users, precalls, lists and hours are embedded in Store. They implement
// storage.Settings, storage.Notices, storage.Accounts, storage.Users, storage.HourMaker and most of storage.Reader.
type (
	settings = *sqlstore.Settings
	notices  = *sqlstore.Notices
	accounts = *sqlstore.Accounts
	users    = *sqlstore.Users
	precalls = *sqlstore.PreCalls
	lists    = sqlstore.Lists
	hours    = *sqlstore.Hours
)

// lockSettings locks the counter. The timeout releases it if a collector crashes in the middle of a transaction.
const lockSettings = `SELECT revision, set_config('idle_in_transaction_session_timeout', $1, true) FROM qos_setting_counter FOR UPDATE`

// change runs a write with the counter locked, so that writes to settings are serial. After a lost
// connection the write is retried once, but not if the connection was lost during the commit: the
// commit may have succeeded, and then the retry would be refused with ErrConflict.
func (s *Store) change(ctx context.Context, write func(sqlstore.Tx) error) error {
	var uncertain error
	return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
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
		if err := write(querier{ctx, tx}); err != nil {
			return err
		}
		uncertain = tx.Commit(ctx)
		return uncertain
	})
}
