package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

// clientTools puts the programs of the newest PostgreSQL before all others.
func clientTools(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	t.Setenv("PATH", filepath.Dir(found[len(found)-1])+string(os.PathListSeparator)+os.Getenv("PATH"))
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

// load appends to a store from several sessions of several days until stop.
type load struct {
	acked [6]atomic.Uint64 // frames that are stored, by session
	wg    sync.WaitGroup
	end   context.CancelFunc
}

func startLoad(t *testing.T, s storage.Writer) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{end: cancel}
	for n := range l.acked {
		l.wg.Go(func() {
			for seq := uint64(1); ctx.Err() == nil; seq++ {
				if _, err := s.Append(context.Background(), []storage.Batch{ofDay(n, seq)}); err != nil {
					t.Error(err)
					return
				}
				l.acked[n].Store(seq)
			}
		})
	}
	t.Cleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.end()
	l.wg.Wait()
}

// reach waits until each session has stored so many frames, and returns how many they have.
func (l *load) reach(t *testing.T, frames uint64) (acked [6]uint64) {
	t.Helper()
	require.Eventually(t, func() bool {
		for n := range l.acked {
			if acked[n] = l.acked[n].Load(); acked[n] < frames {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
	return acked
}

// holds sees that a store has what was acknowledged, once.
func holds(t *testing.T, s *Store, acked [6]uint64) {
	t.Helper()
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	seen := map[string]int{}
	key := func(session string, seq uint64, index int) string { return fmt.Sprint(session, " ", seq, " ", index) }
	for _, c := range page.Conferences {
		ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
		require.NoError(t, s.Records(t.Context(), ref, func(session string, r storage.Record) bool {
			seen[key(session, r.Seq, r.Index)]++
			return true
		}))
	}
	for id, n := range seen {
		if n != 1 {
			require.Fail(t, "more than once", "%s: %d times", id, n)
		}
	}
	for n, last := range acked {
		id := ofDay(n, 1).Session.ID
		for seq := uint64(1); seq <= last; seq++ {
			for index := range 5 {
				if seen[key(id, seq, index)] != 1 {
					require.Fail(t, "not there", "session %d, frame %d, record %d", n, seq, index)
				}
			}
		}
	}
}

// The commands of docs/operations.md, while the store is written to: the copy holds all
// that was acknowledged before it was begun, once, partitions included, and is a store to
// go on with.
//
// spec: SRV-03
func TestBackup(t *testing.T) {
	dsn, backups := database(t), t.TempDir()
	clientTools(t)
	name := databaseOf(t, dsn) + "_restored"
	restored := dsnOf(t, dsn, name)
	s := open(t, dsn)
	load := startLoad(t, s)
	acked := load.reach(t, 30)
	storagetest.Paste(t, "backup-postgres", "postgres://qos@db.example.com/qos", dsn, "/var/backups", backups)
	after := load.reach(t, acked[0]+1)
	load.stop()
	require.NotEqual(t, acked, after, "it was in use")

	storagetest.Paste(t, "restore-postgres",
		"postgres://qos@db.example.com/qos_restored", restored, "postgres://qos@db.example.com/postgres", dsnOf(t, dsn, "postgres"),
		"qos_restored", name, "/var/backups", backups)
	r := open(t, restored)
	holds(t, r, acked)
	holds(t, s, after)
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

	// One who owns nothing is told so, and by which database.
	conn := connect(t, dsnOf(t, dsn, "postgres"))
	stranger := strings.Replace(name, "_owned", "_stranger", 1)
	_, err = conn.Exec(t.Context(), "CREATE ROLE "+stranger+" LOGIN")
	require.NoError(t, err)
	_, err = Open(t.Context(), strings.Replace(limited, name, stranger, 1), Options{})
	require.ErrorContains(t, err, name)
	require.ErrorContains(t, err, "the user may not do this")
}
