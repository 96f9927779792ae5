package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func temp(t testing.TB) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "store.sqlite3"))
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		s := temp(t)
		return s, s
	})
}
