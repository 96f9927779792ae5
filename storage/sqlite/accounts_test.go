package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: DASH-03
func TestAccounts(t *testing.T) {
	storagetest.RunAccounts(t, emptyAccounts)
}

func emptyAccounts(t *testing.T) storagetest.AccountsStore {
	t.Helper()
	path := empty(t)
	s := open(t, path)
	return storagetest.AccountsStore{Accounts: s, Reopen: func(t *testing.T) storage.Accounts {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, path)
	}}
}

// The statement of each request uses an index.
func TestAccountsPlans(t *testing.T) {
	s := temp(t)
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.LoginByID), []byte("i")), "SEARCH login USING INDEX sqlite_autoindex_login_1 (id=?)")
}
