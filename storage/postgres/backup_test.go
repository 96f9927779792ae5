package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// clientTools puts the programs of the newest PostgreSQL before all others.
func clientTools(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", filepath.Dir(testenv.Program(t, "initdb"))+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// dsnOf returns a dsn of another database on the same server.
func dsnOf(t *testing.T, dsn, database string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	return fmt.Sprintf("postgres://%s:very-secret@%s:%d/%s?sslmode=disable", config.User, config.Host, config.Port, database)
}

func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	return config.Database
}

// ofDay gives a session of a batch a day of its own, and so a partition.
func ofDay(n int, seq uint64) storage.Batch {
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -n)
	return startedAt(statsFrame(n, seq, noon), n, start)
}

// The commands of docs/operations.md, while the store is written to: the copy holds all
// that was acknowledged before it was begun, once, partitions included, and is a store to
// go on with.
//
// spec: SRV-03
func TestBackup(t *testing.T) {
	dsn, backups := migrated(t), t.TempDir()
	clientTools(t)
	name := databaseOf(t, dsn) + "_restored"
	restored := dsnOf(t, dsn, name)
	s := open(t, dsn)
	load := storagetest.StartLoad(t, s, 6, ofDay)
	acked := load.Reach(t, 30)
	storagetest.Paste(t, "backup-postgres", "postgres://qos@db.example.com/qos", dsn, "/var/backups", backups)
	after := load.Reach(t, acked[0]+1)
	load.Stop()
	require.NotEqual(t, acked, after, "it was in use")

	storagetest.Paste(t, "restore-postgres",
		"postgres://qos@db.example.com/qos_restored", restored, "postgres://qos@db.example.com/postgres", dsnOf(t, dsn, "postgres"),
		"qos_restored", name, "/var/backups", backups)
	r := open(t, restored)
	load.Held(t, r, acked)
	load.Held(t, s, after)
	var again, more []storage.Batch
	for seq := uint64(1); seq <= acked[2]; seq++ {
		again = append(again, ofDay(2, seq))
	}
	for n := range 8 { // of two days more
		more = append(more, ofDay(n, 1_000_000))
	}
	done, err := r.Append(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, storage.Appended{Duplicates: 5 * int(acked[2])}, done)
	done, err = r.Append(t.Context(), more)
	require.NoError(t, err)
	require.Equal(t, storage.Appended{New: 5 * len(more)}, done)
}

// The privileges that docs/operations.md gives are enough for all that a store does.
func TestPrivileges(t *testing.T) {
	dsn := database(t)
	clientTools(t)
	name := databaseOf(t, dsn) + "_owned"
	storagetest.Paste(t, "prepare-postgres", "postgres://postgres@db.example.com/postgres", dsnOf(t, dsn, "postgres"),
		"ROLE qos", "ROLE "+name, "DATABASE qos OWNER qos", "DATABASE "+name+" OWNER "+name)
	config, err := pgx.ParseConfig(dsnOf(t, dsn, name))
	require.NoError(t, err)
	limited := fmt.Sprintf("postgres://%s:x@%s:%d/%s?sslmode=disable", name, config.Host, config.Port, name)
	s := open(t, limited)
	for n := range 3 {
		done, err := s.Append(t.Context(), []storage.Batch{ofDay(n, 1)})
		require.NoError(t, err)
		require.Equal(t, storage.Appended{New: 5}, done)
	}
	n, err := s.DeleteBefore(t.Context(), time.Now().AddDate(1, 0, 0))
	require.NoError(t, err)
	require.Equal(t, 1, n)

	// The error for a user who owns nothing says so, and names the database.
	conn := connect(t, dsnOf(t, dsn, "postgres"))
	stranger := strings.Replace(name, "_owned", "_stranger", 1)
	_, err = conn.Exec(t.Context(), "CREATE ROLE "+stranger+" LOGIN")
	require.NoError(t, err)
	_, err = Open(t.Context(), strings.Replace(limited, name, stranger, 1), Options{})
	require.ErrorContains(t, err, name)
	require.ErrorContains(t, err, "the user may not do this")
}
