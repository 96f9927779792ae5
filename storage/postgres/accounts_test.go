package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: DASH-03
func TestAccounts(t *testing.T) {
	storagetest.RunAccounts(t, emptyAccounts)
}

func emptyAccounts(t *testing.T) storagetest.AccountsStore {
	t.Helper()
	dsn := migrated(t)
	s := open(t, dsn)
	return storagetest.AccountsStore{Accounts: s, Reopen: func(t *testing.T) storage.Accounts {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, dsn)
	}}
}
