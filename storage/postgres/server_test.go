package postgres

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// The tests run on a real server from a distribution's package.
func TestMain(m *testing.M) {
	code := postgrestest.Run(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database makes an empty database and returns its dsn.
func database(tb testing.TB) string {
	tb.Helper()
	return postgrestest.Database(tb)
}

// migrated makes a database that has the tables of a store, without running the migrations again, and returns its dsn.
func migrated(tb testing.TB) string {
	tb.Helper()
	return copyOf(tb, "migrated", Options{patience: unhurried})
}

func copyOf(tb testing.TB, template string, o Options) string {
	tb.Helper()
	return postgrestest.Shared(tb).Copy(tb, template, func(dsn string) {
		s, err := Open(tb.Context(), dsn, o)
		require.NoError(tb, err)
		require.NoError(tb, s.Close())
	})
}

// temp opens an empty store.
func temp(tb testing.TB) *Store {
	tb.Helper()
	return open(tb, migrated(tb))
}

// unhurried is the patience of stores whose tests are not about it: the machine may be busy.
const unhurried = 5 * time.Minute

func open(tb testing.TB, dsn string) *Store {
	tb.Helper()
	return openWith(tb, dsn, Options{patience: unhurried})
}

func openWith(tb testing.TB, dsn string, o Options) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dsn, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

func query[T any](tb testing.TB, s *Store, sql string, args ...any) (v T) {
	tb.Helper()
	require.NoError(tb, s.read.withConn(tb.Context(), func(conn *pgx.Conn) error {
		return conn.QueryRow(tb.Context(), sql, args...).Scan(&v)
	}))
	return v
}
