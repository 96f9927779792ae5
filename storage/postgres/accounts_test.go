package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

// spec: DASH-03
func TestAccounts(t *testing.T) {
	storagetest.RunAccounts(t, func(t *testing.T) storagetest.AccountsStore {
		t.Helper()
		path := migrated(t)
		s := open(t, path)
		return storagetest.AccountsStore{Accounts: s, Reopen: func(t *testing.T) storage.Accounts {
			t.Helper()
			require.NoError(t, s.Close())
			return open(t, path)
		}}
	})
}
