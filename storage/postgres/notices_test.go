package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: OUT-03
func TestNotices(t *testing.T) {
	storagetest.RunNotices(t, emptyNotices)
}

func emptyNotices(t *testing.T) storagetest.NoticesStore {
	t.Helper()
	dsn := migrated(t)
	s := open(t, dsn)
	return storagetest.NoticesStore{Notices: s, Reopen: func(t *testing.T) storage.Notices {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, dsn)
	}}
}
