//go:build !fuzz

package appsextension

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage/sqlite"
)

func newSQLite(tb testing.TB) *sqlite.Store {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "qos.sqlite3"), sqlite.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	return store
}
