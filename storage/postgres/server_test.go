package postgres

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage/postgres/postgrestest"
	"github.com/qosrtc/qos/storage/storagetest"
)

// The tests run on a real server from a distribution's package. QOS_POSTGRES=required
// makes its absence a failure.
func TestMain(m *testing.M) {
	storagetest.ShortUnderRace()
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

// unhurried is the patience of stores whose tests are not about it: the machine may be busy.
const unhurried = 5 * time.Minute

func open(tb testing.TB, dsn string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dsn, Options{patience: unhurried})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

func query[T any](tb testing.TB, s *Store, sql string, args ...any) (v T) {
	tb.Helper()
	require.NoError(tb, s.read.with(tb.Context(), func(conn *pgx.Conn) error {
		return conn.QueryRow(tb.Context(), sql, args...).Scan(&v)
	}))
	return v
}
