//go:build !fuzz

package accessextension

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// newPostgres returns two stores over one database, as two collectors have them. The test is skipped
// without PostgreSQL, unless testenv.Required.
func newPostgres(t *testing.T) (one, two engine) {
	t.Helper()
	dsn := postgrestest.Own(t).Database(t)
	open := func() engine {
		store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	return open(), open()
}

func newStore(tb testing.TB) engine {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	return store
}
