package sqlite

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

// TestMain leaves the tests of one goroutine to a run without the race detector, which makes
// SQLite some 20 times slower. `make test-go` has both runs.
func TestMain(m *testing.M) {
	flag.Parse()
	if storagetest.Race {
		if err := flag.Set("test.short", "true"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

func open(tb testing.TB, path string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), path, Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

func temp(tb testing.TB) *Store {
	tb.Helper()
	return open(tb, filepath.Join(tb.TempDir(), "store.sqlite3"))
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		t.Helper()
		s := temp(t)
		return s, s
	})
}
