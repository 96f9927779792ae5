package sqlite

import (
	"context"

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

// change runs a write to settings in the writer's transaction. A refusal does not fail
// the other jobs of the transaction.
func (s *Store) change(ctx context.Context, write func(sqlstore.Tx) error) error {
	var refused error
	err := s.writer.do(ctx, job{run: func(t *tx) error {
		refused = nil
		err := write(t.querier())
		if sqlstore.SettingsRefused(err) {
			refused, err = err, nil
		}
		return err
	}})
	if err != nil {
		return err
	}
	return refused
}
