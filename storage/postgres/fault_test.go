package postgres

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// The server stops and starts again while collectors write, pack and read: each record is
// stored once, and nothing is written by half.
//
// spec: SRV-03
func TestServerStopsUnderLoad(t *testing.T) {
	server := postgrestest.Durable(t)
	s := open(t, server.Database(t))
	const sessions, seqs = 4, 40
	var writers, packer sync.WaitGroup
	for n := range sessions {
		writers.Go(func() {
			for seq := uint64(1); seq <= seqs; {
				if _, err := s.Append(t.Context(), []storage.Batch{statsFrame(n, seq, noon)}); err == nil {
					seq++
				}
			}
		})
	}
	stop := make(chan struct{})
	packer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = s.Pack(t.Context(), noon.Add(time.Hour))
			}
		}
	})
	for range 3 {
		server.Stop()
		require.NoError(t, server.Start())
	}
	writers.Wait()
	close(stop)
	packer.Wait()
	checkStored(t, s, sessions, seqs)
}

// checkStored: each record of some sessions of one conference can be read, once.
func checkStored(t *testing.T, s *Store, sessions, seqs int) {
	t.Helper()
	seen := map[string]int{}
	ref := storage.Ref{AppID: "app", ConferenceID: "conference 0", At: noon.Add(10 * time.Second)}
	require.NoError(t, s.Records(t.Context(), ref, func(session string, r storage.Record) bool {
		seen[fmt.Sprint(session, r.Seq, r.Index)]++
		return true
	}))
	require.Len(t, seen, sessions*seqs*5)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
}

// A server that takes no writes says so, and is asked again on a new connection: the dsn
// may name several.
//
// spec: SRV-03
func TestReadOnly(t *testing.T) {
	dsn := migrated(t)
	s := open(t, dsn)
	appendFrames(t, s, 2)
	execute(t, s, `ALTER DATABASE `+s.config.Database+` SET default_transaction_read_only = on`)
	terminateOthers(t, s)
	for range 2 {
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, 3, noon)})
		require.ErrorContains(t, err, "store "+s.name+": append: the server is read-only")
		require.NotErrorIs(t, err, storage.ErrInvalid)
	}
	checkStored(t, s, 1, 2)
	conn := connect(t, dsn)
	for _, statement := range []string{"SET default_transaction_read_only = off", "ALTER DATABASE " + s.config.Database + " RESET default_transaction_read_only"} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	require.Equal(t, storage.Appended{New: 5, Duplicates: 10}, appendFrames(t, s, 3))
	checkStored(t, s, 1, 3)
}

// A server that hangs is an error in time. What it is asked for then is not half done.
//
// spec: SRV-03
func TestServerHangs(t *testing.T) {
	dsn := migrated(t)
	patient := open(t, dsn)
	appendFrames(t, patient, 1) // partitions, however long they take
	s := openWith(t, dsn, Options{patience: time.Second})
	blocker := connect(t, dsn)
	tx, err := blocker.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE qos_conference`)
	require.NoError(t, err)
	_, err = s.Append(t.Context(), []storage.Batch{statsFrame(1, 2, noon)})
	require.ErrorContains(t, err, "store "+s.name+": append: the server did not answer in time")
	_, err = s.Conferences(t.Context(), storage.Query{})
	require.ErrorContains(t, err, "store "+s.name+": list conferences: the server did not answer in time")
	_, err = s.Pack(t.Context(), noon.Add(time.Hour))
	require.ErrorContains(t, err, "did not answer in time")
	require.NotContains(t, err.Error(), "very-secret")
	require.NoError(t, tx.Rollback(t.Context()))
	require.Eventually(t, func() bool {
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, 2, noon)})
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	checkStored(t, patient, 1, 2)
}

// A collector that is cut off in the middle of a transaction, or stops there, keeps the
// others waiting only as long as the server's settings allow.
func TestWriterIsWatched(t *testing.T) {
	s, err := Open(t.Context(), migrated(t), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	appendFrames(t, s, 1)
	for setting, want := range map[string]string{
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
		"idle_in_transaction_session_timeout": "1min", "enable_seqscan": "off",
	} {
		var got string
		require.NoError(t, s.writer.conn.QueryRow(t.Context(), `SHOW `+setting).Scan(&got))
		require.Equal(t, want, got, setting)
	}
}

// Collectors that pack at once share the conferences: each record is packed once.
//
// spec: SRV-03
func TestPackTwoCollectors(t *testing.T) {
	dsn := migrated(t)
	stores := []*Store{open(t, dsn), open(t, dsn), open(t, dsn)}
	const conferences, seqs = 6, 200
	for n := range conferences * 4 {
		var batches []storage.Batch
		for seq := uint64(1); seq <= seqs; seq++ {
			batches = append(batches, statsFrame(n, seq, noon))
		}
		_, err := stores[0].Append(t.Context(), batches)
		require.NoError(t, err)
	}
	var mu sync.Mutex
	var total storage.Packed
	var wg sync.WaitGroup
	for _, s := range stores {
		wg.Go(func() {
			got, err := s.Pack(t.Context(), noon.Add(time.Hour))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total.Conferences += got.Conferences
			total.Records += got.Records
		})
	}
	wg.Wait()
	require.Equal(t, storage.Packed{Conferences: conferences, Records: conferences * 4 * seqs * 5}, total)
	require.Zero(t, query[int64](t, stores[0], `SELECT count(*) FROM qos_frame`))
	require.EqualValues(t, total.Records, query[int64](t, stores[0], `SELECT sum(n * (last - first + 1))::bigint FROM qos_packed`))
	checkStored(t, stores[1], 4, seqs)
	require.Equal(t, storage.Appended{Duplicates: 5}, mustAppend(t, stores[2], statsFrame(3, seqs, noon)))
}

func mustAppend(t *testing.T, s *Store, b storage.Batch) storage.Appended {
	t.Helper()
	done, err := s.Append(t.Context(), []storage.Batch{b})
	require.NoError(t, err)
	return done
}

// Retention that stops after any of its steps is finished by the next one, or by who needs
// the day again.
func TestDropStopsAnywhere(t *testing.T) {
	s := temp(t)
	now := time.Now().UTC().Truncate(24 * time.Hour)
	old := now.AddDate(0, 0, -9)
	day := int32(dayOf(old.UnixMilli()))
	var rename []string
	for _, table := range dayTables {
		rename = append(rename, "ALTER TABLE "+partition(table, day)+" RENAME TO "+condemnedName(table, day))
	}
	steps := []string{strings.Join(rename, ";")}
	for _, table := range dayTables {
		steps = append(steps, "ALTER TABLE "+table+" DETACH PARTITION "+condemnedName(table, day), "DROP TABLE "+condemnedName(table, day))
	}
	for done := range len(steps) + 1 {
		for _, finish := range []bool{true, false} {
			first, second := startedAt(statsFrame(1, 1, old), 1, old), startedAt(statsFrame(1, 2, old), 1, old)
			mustAppend(t, s, first)
			_, err := s.Pack(t.Context(), now)
			require.NoError(t, err)
			mustAppend(t, s, second)
			for _, step := range steps[:done] {
				_, err := connect(t, s.config.ConnString()).PgConn().Exec(t.Context(), step).ReadAll()
				require.NoError(t, err)
			}
			if finish {
				_, err := s.DeleteBefore(t.Context(), now)
				require.NoError(t, err)
				require.Zero(t, query[int64](t, s, `SELECT count(*) FROM pg_class WHERE relname ~ '^qos_.*_[0-9]+(_condemned)?$' AND relkind = 'r'`))
			}
			for _, b := range []storage.Batch{first, second} {
				got := mustAppend(t, s, b)
				require.Equal(t, 5, got.New+got.Duplicates)
			}
			n := 0
			ref := storage.Ref{AppID: "app", ConferenceID: "conference 0", At: old.Add(10 * time.Second)}
			require.NoError(t, s.Records(t.Context(), ref, func(string, storage.Record) bool { n++; return true }))
			require.Equal(t, 10, n, "after %d steps", done)
			_, err = s.DeleteBefore(t.Context(), now)
			require.NoError(t, err)
		}
	}
}

func TestPackAfterClose(t *testing.T) {
	s := temp(t)
	require.NoError(t, s.Close())
	_, err := s.Pack(t.Context(), noon)
	require.ErrorContains(t, err, "store "+s.name+": pack: the store is closed")
	require.NotErrorIs(t, err, pgx.ErrNoRows)
}
