package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/group"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func appendFrames(tb testing.TB, s *Store, session int, to uint64) storage.Appended {
	tb.Helper()
	var batches []storage.Batch
	for seq := uint64(1); seq <= to; seq++ {
		batches = append(batches, statsFrame(session, seq, noon))
	}
	done, err := s.Append(tb.Context(), batches)
	require.NoError(tb, err)
	return done
}

func count(tb testing.TB, s *Store, table string) (n int) {
	tb.Helper()
	require.NoError(tb, s.read.QueryRowContext(tb.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// spec: SRV-03
func TestOpenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a dir?#%", "store %41?.sqlite3")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	s := open(t, path)
	appendFrames(t, s, 1, 3)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	require.FileExists(t, path)
	require.NoFileExists(t, path+"-wal", "the log was folded into the file")

	s = open(t, path)
	require.Equal(t, storage.Appended{New: 5, Duplicates: 15}, appendFrames(t, s, 1, 4))
}

// A copy of the files of a store in use is what a killed process leaves.
//
// spec: SRV-03
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "a"))
	appendFrames(t, s, 1, 3)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, "a"+suffix))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "b"+suffix), data, 0o600))
	}
	left := open(t, filepath.Join(dir, "b"))
	require.Equal(t, storage.Appended{Duplicates: 15}, appendFrames(t, left, 1, 3))
}

func TestOpenRefuses(t *testing.T) {
	refuse := func(name string, prepare func(path string), want ...string) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.sqlite3")
			prepare(path)
			_, err := Open(t.Context(), path, Options{busyTimeout: 50 * time.Millisecond})
			for _, text := range append(want, path) {
				require.ErrorContains(t, err, text)
			}
		})
	}
	run := func(path, statement string) {
		db, err := sql.Open("sqlite", fileURI(path))
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	refuse("newer", func(path string) {
		require.NoError(t, open(t, path).Close())
		run(path, "PRAGMA user_version = 7")
	}, "version 7", "up to 1", "newer program")
	refuse("foreign", func(path string) { run(path, "CREATE TABLE theirs (x)") }, "not a store's")
	refuse("garbage", func(path string) {
		require.NoError(t, os.WriteFile(path, []byte("this is no database, and long enough to be sure of it"), 0o600))
	}, "not a database")
	refuse("damaged", func(path string) {
		require.NoError(t, open(t, path).Close())
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		copy(data[100:4096], make([]byte, 3996))
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}, "damaged")
	refuse("no directory", func(path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, "cannot be written")
	refuse("in use", func(path string) { open(t, path) }, "open already")
	refuse("locked", func(path string) {
		require.NoError(t, open(t, path).Close())
		run(path, "PRAGMA journal_mode = DELETE")
		db, err := sql.Open("sqlite", fileURI(path))
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		_, err = db.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
		require.NoError(t, err)
	}, "another program holds a lock")
}

func TestClosed(t *testing.T) {
	s := temp(t)
	require.NoError(t, s.Close())
	_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, 1, noon)})
	require.ErrorIs(t, err, group.ErrClosed)
	require.ErrorContains(t, err, s.path)
}

// Close waits for what is under way; each write ends either stored or with group.ErrClosed.
func TestCloseWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.sqlite3")
	s := open(t, path)
	var wg sync.WaitGroup
	stored := make([]uint64, 8)
	begun := make(chan struct{}, len(stored))
	for n := range stored {
		wg.Go(func() {
			for seq := uint64(1); ; seq++ {
				_, err := s.Append(context.Background(), []storage.Batch{statsFrame(n, seq, noon)})
				if errors.Is(err, group.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if stored[n] = seq; seq == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range stored {
		<-begun
	}
	require.NoError(t, s.Close())
	wg.Wait()
	s = open(t, path)
	for n, last := range stored {
		require.Equal(t, storage.Appended{Duplicates: int(last) * 5}, appendFrames(t, s, n, last))
	}
}

// A job that fails takes no other with it, and the caches forget what was rolled back.
func TestGroupFails(t *testing.T) {
	s := temp(t)
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.writer.do(context.Background(), job{run: func(*tx) error { close(held); <-hold; return nil }})
	})
	<-held
	broken := errors.New("broken")
	queue := func(run func(*tx) error, want error) {
		waiting := s.writer.queue.Len()
		wg.Go(func() {
			if err := s.writer.do(context.Background(), job{run: run}); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
		require.Eventually(t, func() bool { return s.writer.queue.Len() == waiting+1 }, time.Minute, time.Millisecond)
	}
	insert := func(p frames.PlaceID) func(*tx) error {
		return func(t *tx) error { _, err := t.place(p); return err }
	}
	queue(insert(frames.PlaceID{App: "a", Conference: "1"}), nil)
	queue(func(t *tx) error { return errors.Join(insert(frames.PlaceID{App: "a", Conference: "2"})(t), broken) }, broken)
	queue(insert(frames.PlaceID{App: "a", Conference: "3"}), nil)
	close(hold)
	wg.Wait()
	require.Equal(t, 2, count(t, s, "place"))
	require.NoError(t, s.writer.do(t.Context(), job{run: insert(frames.PlaceID{App: "a", Conference: "2"})}))
	require.Equal(t, 3, count(t, s, "place"))
}

// A full queue holds callers at the door until their context ends.
func TestQueueIsBounded(t *testing.T) {
	s := temp(t)
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.writer.do(context.Background(), job{run: func(*tx) error { close(held); <-hold; return nil }})
	})
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	for range group.QueueJobs + 10 {
		wg.Go(func() {
			err := s.writer.do(ctx, job{run: func(*tx) error { return errors.New("nobody waits: must not run") }})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	require.Eventually(t, func() bool { return s.writer.queue.Len() == group.QueueJobs }, time.Minute, time.Millisecond)
	cancel()
	close(hold)
	wg.Wait()
	require.Equal(t, storage.Appended{New: 5}, appendFrames(t, s, 1, 1))
}

func TestDeleteBefore(t *testing.T) {
	s := temp(t)
	for n := range 12 { // three conferences of 1000 frames
		appendFrames(t, s, n, 250)
	}
	late := statsFrame(0, 900, noon.Add(24*time.Hour)) // session 0 goes on the next day
	annotation := statsFrame(1, 901, noon).Records[0]
	annotation.Activity, annotation.Fabric, annotation.Name = false, 0, "qos.feedback"
	_, err := s.Append(t.Context(), []storage.Batch{late, {Session: statsFrame(1, 1, noon).Session, Records: []storage.Record{annotation}}})
	require.NoError(t, err)
	require.NoError(t, s.PutSummary(t.Context(), storage.Summary{AppID: "app", ConferenceID: "conference 0", Start: noon, End: noon, Revision: 1}))

	n, err := s.DeleteBefore(t.Context(), noon)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = s.DeleteBefore(t.Context(), noon.Add(24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	for table, want := range map[string]int{"frame": 1, "conference": 1, "participant": 1, "session": 1, "place": 1} {
		require.Equal(t, want, count(t, s, table), table)
	}
	// What was deleted may come again, under keys that are new.
	require.Equal(t, storage.Appended{New: 5}, appendFrames(t, s, 5, 1))
	require.Equal(t, 2, count(t, s, "conference"))
	var faults int
	require.NoError(t, s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_foreign_key_check").Scan(&faults))
	require.Zero(t, faults)
}

func TestDeleteStops(t *testing.T) {
	s := temp(t)
	appendFrames(t, s, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.DeleteBefore(ctx, noon.Add(time.Hour))
	require.ErrorIs(t, err, context.Canceled)
}

// The indexes answer the hot queries; a scan of a table would be found out late.
func TestPlans(t *testing.T) {
	s := temp(t)
	f := func(want, query string, args ...any) {
		t.Helper()
		require.Contains(t, plan(t, s, query, args...), want)
		require.NotContains(t, plan(t, s, query, args...), "SCAN f")
	}
	f("frame_activity (place=? AND at>? AND at<?)", dialect.SQL(sqlstore.ActivityRows), 1, 2, 3, 4, 4, []byte{}, 0, 0, 10)
	f("LAST 3 TERMS", dialect.SQL(sqlstore.ActivityRows), 1, 2, 3, 4, 4, []byte{}, 0, 0, 10)
	f("frame_other (place=? AND conference_at>? AND conference_at<?)", dialect.SQL(sqlstore.OtherRows), 1, 2, 3, 4, 4, []byte{}, 0, 0, 10)
}
