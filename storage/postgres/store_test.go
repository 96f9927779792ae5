package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/group"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// startedAt gives a batch a session whose id names a day; statsFrame makes the rest.
func startedAt(b storage.Batch, n int, start time.Time) storage.Batch {
	ms := start.UnixMilli()
	b.Session.ID = fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n)
	return b
}

func appendFrames(tb testing.TB, s *Store, to uint64) storage.Appended {
	tb.Helper()
	var batches []storage.Batch
	for seq := uint64(1); seq <= to; seq++ {
		batches = append(batches, statsFrame(1, seq, noon))
	}
	done, err := s.Append(tb.Context(), batches)
	require.NoError(tb, err)
	return done
}

// Two collectors write the same frames at once, also cut otherwise: each record is stored
// once, and the conferences are joined by both.
//
// spec: SRV-03, CONF-01, CONF-02
func TestTwoCollectors(t *testing.T) {
	dsn := migrated(t)
	stores := []*Store{open(t, dsn), open(t, dsn)}
	const sessions, seqs = 8, 30
	var fresh, again atomic.Int64
	var wg sync.WaitGroup
	for i, s := range stores {
		for n := range sessions {
			wg.Go(func() {
				for seq := uint64(1); seq <= seqs; seq++ {
					b := statsFrame(n, seq, noon)
					if i == 1 { // from the other end, so that conferences merge, and in parts
						b = statsFrame(n, seqs+1-seq, noon)
						b.Records = b.Records[1:4]
					}
					done, err := s.Append(t.Context(), []storage.Batch{b})
					if err != nil {
						t.Error(err)
					}
					fresh.Add(int64(done.New))
					again.Add(int64(done.Duplicates))
				}
			})
		}
	}
	wg.Wait()
	require.EqualValues(t, sessions*seqs*5, fresh.Load())
	require.EqualValues(t, sessions*seqs*3, again.Load())
	for _, s := range stores {
		page, err := s.Conferences(t.Context(), storage.Query{})
		require.NoError(t, err)
		require.Len(t, page.Conferences, 2)
		for _, c := range page.Conferences {
			require.Len(t, c.Participants, 4)
			seen := map[string]int{}
			err := s.Records(t.Context(), storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}, func(session string, r storage.Record) bool {
				seen[fmt.Sprint(session, r.Seq, r.Index)]++
				return true
			})
			require.NoError(t, err)
			require.Len(t, seen, 4*seqs*5)
		}
	}
}

// The server dies and comes back: writes in between are errors, later ones are stored, and
// what was acknowledged is there.
//
// spec: SRV-03
func TestServerRestarts(t *testing.T) {
	server := postgrestest.Durable(t)
	s := open(t, server.Database(t))
	require.Equal(t, storage.Appended{New: 10}, appendFrames(t, s, 2))
	_, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	server.Stop()
	_, err = s.Append(t.Context(), []storage.Batch{statsFrame(1, 3, noon)})
	require.ErrorContains(t, err, s.name+": append")
	require.NotErrorIs(t, err, storage.ErrInvalid)
	require.NotContains(t, err.Error(), "very-secret")
	_, err = s.Conferences(t.Context(), storage.Query{})
	require.Error(t, err)
	require.NoError(t, server.Start())
	require.Equal(t, storage.Appended{New: 5, Duplicates: 10}, appendFrames(t, s, 3))

	// A restart that nobody noticed is no error.
	server.Stop()
	require.NoError(t, server.Start())
	require.Equal(t, storage.Appended{New: 5, Duplicates: 15}, appendFrames(t, s, 4))
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1)
}

// Connections are ended under load again and again: each record is stored once.
//
// spec: SRV-03
func TestConnectionsEnd(t *testing.T) {
	s := temp(t)
	const sessions, seqs = 4, 60
	var wg sync.WaitGroup
	for n := range sessions {
		wg.Go(func() {
			for seq := uint64(1); seq <= seqs; seq++ {
				for {
					_, err := s.Append(t.Context(), []storage.Batch{statsFrame(n, seq, noon)})
					if err == nil {
						break
					}
				}
			}
		})
	}
	for range 10 {
		_ = s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
			_, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			return err
		})
	}
	wg.Wait()
	require.EqualValues(t, sessions*seqs*5, query[int64](t, s, `SELECT sum(n) FROM qos_frame`))
	require.EqualValues(t, 1, query[int64](t, s, `SELECT count(*) FROM qos_conference`))
}

func TestOpenAtOnce(t *testing.T) {
	dsn := database(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := Open(context.Background(), dsn, Options{MaxConnections: 2})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, len(kept.Files(t)), query[int64](t, open(t, dsn), `SELECT count(*) FROM qos_migration`))
}

func TestOpenRefuses(t *testing.T) {
	dsn := migrated(t)
	s := open(t, dsn)
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `INSERT INTO qos_migration (version) VALUES (7)`)
		return err
	}))
	refuse := func(dsn string, want ...string) {
		t.Helper()
		_, err := Open(t.Context(), dsn, Options{})
		for _, text := range want {
			require.ErrorContains(t, err, text)
		}
		require.NotContains(t, err.Error(), "very-secret")
	}
	refuse(dsn, "version 7", "up to 1", "newer program", s.name)
	refuse(postgrestest.Shared(t).DSN("nowhere"), "nowhere", "does not exist")
	refuse("postgres://qos:very-secret@127.0.0.1:1/x?sslmode=disable", "127.0.0.1:1/x")
	refuse("postgres://qos:very-secret@host:port:9/x", "no PostgreSQL connection string")
}

func TestClosed(t *testing.T) {
	s := temp(t)
	require.NoError(t, s.Close())
	_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, 1, noon)})
	require.ErrorIs(t, err, group.ErrClosed)
	_, err = s.Conferences(t.Context(), storage.Query{})
	require.ErrorIs(t, err, group.ErrClosed)
}

// Partitions are made by the days of sessions, once, by the store that needs one first; IDs
// with a wrong time make none.
func TestPartitionsAtOnce(t *testing.T) {
	dsn := migrated(t)
	stores := []*Store{open(t, dsn), open(t, dsn), open(t, dsn)}
	today := time.Now().UTC()
	var wg sync.WaitGroup
	for i, s := range stores {
		for day := range 5 {
			wg.Go(func() {
				b := startedAt(statsFrame(i, 1, noon), i, today.AddDate(0, 0, -day))
				if done, err := s.Append(t.Context(), []storage.Batch{b}); err != nil || done.New != 5 {
					t.Errorf("day %d: %+v, %v", day, done, err)
				}
			})
		}
	}
	wg.Wait()
	for i, start := range []time.Time{today.AddDate(0, 0, 5), today.AddDate(-2, 0, 0), time.UnixMilli(0)} {
		done, err := stores[0].Append(t.Context(), []storage.Batch{startedAt(statsFrame(i, 1, noon), i, start)})
		require.NoError(t, err)
		require.Equal(t, storage.Appended{New: 5}, done)
	}
	require.EqualValues(t, 6, query[int64](t, stores[0], `SELECT count(*) FROM pg_inherits WHERE inhparent = 'qos_frame'::regclass`))
	require.EqualValues(t, 3, query[int64](t, stores[0], `SELECT count(*) FROM qos_frame_0`))
}

// Retention drops the partitions of which nothing is kept, deletes the rest by rows, and
// writers of other days go on meanwhile.
func TestDeleteBefore(t *testing.T) {
	dsn := migrated(t)
	s, other := open(t, dsn), open(t, dsn)
	now := time.Now().UTC().Truncate(24 * time.Hour)
	put := func(s *Store, n, daysAgo int, at time.Time) storage.Appended {
		b := startedAt(statsFrame(n, 1, at), n, now.AddDate(0, 0, -daysAgo))
		done, err := s.Append(t.Context(), []storage.Batch{b})
		require.NoError(t, err)
		return done
	}
	put(s, 0, 9, now.AddDate(0, 0, -9))
	put(s, 4, 8, now.AddDate(0, 0, -8))
	put(s, 8, 8, now.AddDate(0, 0, -1)) // a session of that day in a call of yesterday
	put(s, 12, 900, now.AddDate(0, 0, -900))
	put(s, 16, 0, now)
	tables := func() int64 {
		return query[int64](t, s, `SELECT count(*) FROM pg_class WHERE relname ~ '^qos_frame_[0-9_a-z]*$' AND relkind = 'r'`)
	}
	require.EqualValues(t, 4, tables())

	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for seq := uint64(2); ; seq++ {
			select {
			case <-stop:
				return
			default:
			}
			b := startedAt(statsFrame(16, seq, now), 16, now)
			if _, err := other.Append(context.Background(), []storage.Batch{b}); err != nil {
				t.Error(err)
			}
		}
	})
	n, err := s.DeleteBefore(t.Context(), now.AddDate(0, 0, -2))
	close(stop)
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.EqualValues(t, 3, tables(), "one was dropped whole")
	require.EqualValues(t, 2, query[int64](t, s, `SELECT count(DISTINCT session) FROM qos_frame`))
	require.EqualValues(t, 2, query[int64](t, s, `SELECT count(*) FROM qos_conference`))
	require.EqualValues(t, 2, query[int64](t, s, `SELECT count(*) FROM qos_session`))
	require.EqualValues(t, 2, query[int64](t, s, `SELECT count(*) FROM qos_place`))

	// What was deleted may come again, also where caches still know its rows.
	require.Equal(t, storage.Appended{New: 5}, put(s, 0, 9, now.AddDate(0, 0, -9)))
	require.Equal(t, storage.Appended{New: 5}, put(other, 4, 8, now.AddDate(0, 0, -8)))
	require.EqualValues(t, 4, tables())
}

// A drop that stopped half-way is finished by the next one, or by who needs the day again.
func TestDropStopsHalfway(t *testing.T) {
	s := temp(t)
	now := time.Now().UTC().Truncate(24 * time.Hour)
	b := startedAt(statsFrame(1, 1, now.AddDate(0, 0, -9)), 1, now.AddDate(0, 0, -9))
	day := int32(dayOf(now.AddDate(0, 0, -9).UnixMilli()))
	for _, detach := range []bool{false, true} {
		_, err := s.Append(t.Context(), []storage.Batch{b})
		require.NoError(t, err)
		require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
			_, err := conn.Exec(t.Context(), "ALTER TABLE "+partition(frameTable, day)+" RENAME TO "+condemnedName(frameTable, day))
			if detach && err == nil {
				_, err = conn.Exec(t.Context(), "ALTER TABLE qos_frame DETACH PARTITION "+condemnedName(frameTable, day))
			}
			return err
		}))
		if detach {
			_, err = s.DeleteBefore(t.Context(), now)
			require.NoError(t, err)
		}
		done, err := s.Append(t.Context(), []storage.Batch{b})
		require.NoError(t, err)
		require.Equal(t, storage.Appended{New: 5}, done)
		require.EqualValues(t, 1, query[int64](t, s, `SELECT count(*) FROM qos_frame`))
	}
}

func TestDeleteStops(t *testing.T) {
	s := temp(t)
	appendFrames(t, s, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.DeleteBefore(ctx, noon.Add(time.Hour))
	require.ErrorIs(t, err, context.Canceled)
}

// A job that fails takes no other with it.
func TestGroupFails(t *testing.T) {
	s := temp(t)
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `ALTER TABLE qos_place ADD CHECK (conference_id <> 'conference 1')`)
		return err
	}))
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			_, err := s.Append(t.Context(), []storage.Batch{statsFrame(n, 1, noon)})
			if (err != nil) != (n/4 == 1) || errors.Is(err, storage.ErrInvalid) {
				t.Errorf("session %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 8, query[int64](t, s, `SELECT count(*) FROM qos_frame`))
}
