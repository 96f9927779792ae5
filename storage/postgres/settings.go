package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// settings, notices, accounts, users, precalls, lists and hours are embedded by Store, which gets the methods of
// storage.Settings, storage.Notices, storage.Accounts, storage.Users, storage.HourMaker and most of storage.Reader by them.
type (
	settings = *sqlstore.Settings
	notices  = *sqlstore.Notices
	accounts = *sqlstore.Accounts
	users    = *sqlstore.Users
	precalls = *sqlstore.PreCalls
	lists    = sqlstore.Lists
	hours    = *sqlstore.Hours
)

// lockSettings sees that a collector that stops in mid-transaction does not hold up the
// others for good.
const lockSettings = `SELECT revision, set_config('idle_in_transaction_session_timeout', $1, true) FROM qos_setting_counter FOR UPDATE`

// change runs a write with the counter locked, so that writes to settings follow one after
// the other. A connection that proves lost is replaced once, but not where a commit was
// under way: it may have been made, and the same write again would be refused as one that
// is too late.
func (s *Store) change(ctx context.Context, write func(sqlstore.Tx) error) error {
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
		if err := write(asked{ctx, tx}); err != nil {
			return err
		}
		uncertain = tx.Commit(ctx)
		return uncertain
	})
}
