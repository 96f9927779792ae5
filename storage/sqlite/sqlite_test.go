package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(tb testing.TB, path string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), path, Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

// migrated is the file of an empty store. Tests that are not about migrations begin with a copy of it.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "qos-sqlite")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "store.sqlite3")
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path)
	return file, errors.Join(err, os.RemoveAll(dir))
})

// empty returns the path of an empty store.
func empty(tb testing.TB) string {
	tb.Helper()
	file, err := migrated()
	require.NoError(tb, err)
	path := filepath.Join(tb.TempDir(), "store.sqlite3")
	require.NoError(tb, os.WriteFile(path, file, 0o600))
	return path
}

// temp opens an empty store.
func temp(tb testing.TB) *Store {
	tb.Helper()
	return open(tb, empty(tb))
}

// spec: SRV-03, PRIV-02, DASH-02, AUTH-03, OUT-03, DASH-03
func TestConcurrent(t *testing.T) {
	storagetest.RunConcurrent(t, storagetest.ConcurrentEngine{
		UsersEngine: usersEngine, Settings: emptySettings, Notices: emptyNotices, Accounts: emptyAccounts,
	})
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		t.Helper()
		s := temp(t)
		return s, s
	})
}
