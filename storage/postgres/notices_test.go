package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

// spec: OUT-03
func TestNotices(t *testing.T) {
	storagetest.RunNotices(t, func(t *testing.T) storagetest.NoticesStore {
		t.Helper()
		path := migrated(t)
		s := open(t, path)
		return storagetest.NoticesStore{Notices: s, Reopen: func(t *testing.T) storage.Notices {
			t.Helper()
			require.NoError(t, s.Close())
			return open(t, path)
		}}
	})
}
