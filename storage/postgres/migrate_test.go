package postgres

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/postgrestest"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// Before a migration is added, this writes a store of the schema before it, by the code of
// that schema: go test ./storage/postgres -run TestReleased -released.
var writeReleased = flag.Bool("released", false, "write testdata/schema<N> for the newest schema")

var kept = storagetest.Migrations{FS: migrations, Store: "store.sql"}

// A store of each released schema is brought up to date, and nothing of it is lost; nor of one
// of this schema that is closed and opened again.
//
// spec: SRV-03, CONF-01
func TestReleased(t *testing.T) {
	if *writeReleased {
		makeReleased(t)
	}
	storagetest.EachReleased(t, func(t *testing.T, schema int, contents []byte) {
		t.Helper()
		storagetest.RunReleased(t, open(t, unpack(t, storagetest.SchemaDir(schema))), contents)
	})
	t.Run("this schema", func(t *testing.T) {
		dsn := database(t)
		s := open(t, dsn)
		storagetest.WriteReleased(t, s)
		contents := storagetest.Contents(t, s)
		require.NoError(t, s.Close())
		storagetest.RunReleased(t, open(t, dsn), contents)
	})
}

// unpack returns a database that holds a released store.
func unpack(t *testing.T, dir string) (dsn string) {
	t.Helper()
	dsn = database(t)
	conn := connect(t, dsn)
	_, err := conn.PgConn().Exec(t.Context(), string(kept.Read(t, dir))).ReadAll()
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	return dsn
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// notSQL is what pg_dump writes for psql alone, and what speaks of the server it ran on.
var notSQL = regexp.MustCompile(`(?m)^(\\.*|--.*|SET .*|)\n`)

func makeReleased(t *testing.T) {
	t.Helper()
	dsn := database(t)
	s := open(t, dsn)
	storagetest.WriteReleased(t, s)
	golden := storagetest.Contents(t, s)
	out, err := postgrestest.Shared(t).Command("pg_dump", "--no-owner", "--no-privileges", "--rows-per-insert=100", "--dbname="+dsn).Output()
	require.NoError(t, err)
	kept.Write(t, notSQL.ReplaceAll(out, nil), golden)
}

// A migration that is listed was released, and never changes. One that another follows is
// listed, and a store of its schema is kept for TestReleased.
func TestMigrationsAreKept(t *testing.T) {
	kept.Kept(t)
}

// A collector that dies in the middle of a migration leaves the schema as it was; the next
// one, which waited for it, does the migration whole.
//
// spec: SRV-03
func TestMigrationKilled(t *testing.T) {
	t.Run("new database", func(t *testing.T) {
		dsn := database(t)
		dieMigrating(t, dsn, 0)
		require.Equal(t, storage.Appended{New: 10}, appendFrames(t, open(t, dsn), 2))
	})
	storagetest.EachReleased(t, func(t *testing.T, schema int, contents []byte) {
		t.Helper()
		dsn := unpack(t, storagetest.SchemaDir(schema))
		dieMigrating(t, dsn, schema)
		storagetest.RunReleased(t, open(t, dsn), contents)
	})
}

// dieMigrating does all of the migration after have but its commit, while another collector
// opens the store and waits; then its connection is gone, as when its process is killed.
func dieMigrating(t *testing.T, dsn string, have int) {
	t.Helper()
	text, err := migrations.ReadFile(kept.Files(t)[have])
	require.NoError(t, err)
	conn := connect(t, dsn)
	for _, statement := range []string{"BEGIN", fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, 0)", lockSchema), string(text)} {
		_, err = conn.PgConn().Exec(t.Context(), statement).ReadAll()
		require.NoError(t, err)
	}
	opened := make(chan error, 1)
	go func() {
		s, err := Open(context.Background(), dsn, Options{})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	waits := connect(t, dsn)
	require.Eventually(t, func() bool {
		var n int
		err := waits.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
		return err == nil && n == 1
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, conn.PgConn().Conn().Close())
	require.NoError(t, <-opened)
}
