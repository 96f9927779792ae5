package postgres

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/tests/store/postgrestest"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestFollow(t *testing.T) {
	storagetest.RunFollow(t, func(t *testing.T) storagetest.Followed {
		t.Helper()
		return temp(t)
	})
}

// Whatever bytes ids are made of, messages fit and decode to what was encoded.
func TestChangesAsMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) storage.Change {
			ms := rapid.Int64Range(0, frames.MaxTime)
			id := rapid.Custom(func(t *rapid.T) string {
				return string(rapid.SliceOfN(rapid.Byte(), 1, storage.MaxIDBytes).Draw(t, "id"))
			})
			return storage.Change{
				AppID: id.Draw(t, "app"), ConferenceID: id.Draw(t, "conference"),
				From: frames.FromMs(ms.Draw(t, "from")), To: frames.FromMs(ms.Draw(t, "to")),
				Records: rapid.IntRange(0, 1<<40).Draw(t, "records"), Summary: rapid.Bool().Draw(t, "summary"),
			}
		})).Draw(t, "changes")
		var got []storage.Change
		for _, message := range encodeChanges(want) {
			require.LessOrEqual(t, len(message), maxPayload)
			changes, ok := decodeChanges(message)
			require.True(t, ok)
			got = append(got, changes...)
		}
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}

func TestChangesThatDoNotFit(t *testing.T) {
	small := storage.Change{AppID: "app", ConferenceID: "a", From: noon, To: noon, Records: 1}
	large := small
	large.ConferenceID = strings.Repeat("x", maxPayload)
	require.Equal(t, []string{catchUp}, encodeChanges([]storage.Change{large}))
	messages := encodeChanges([]storage.Change{small, large, small})
	require.Len(t, messages, 2)
	changes, ok := decodeChanges(messages[0])
	require.True(t, ok)
	require.Equal(t, []storage.Change{small, small}, changes)
	for _, message := range []string{messages[1], "", "[]", "{}", `[{"app":7}]`} {
		_, ok := decodeChanges(message)
		require.False(t, ok, message)
	}
	var many []storage.Change
	for n := range 1000 {
		small.ConferenceID = fmt.Sprint("conference ", n)
		many = append(many, small)
	}
	require.Less(t, len(encodeChanges(many)), 25, "as few as needed")
}

// heard is what a follower received.
type heard chan storage.Change

func followAll(t *testing.T, s *Store) heard {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes, done := make(heard, 1000), make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Follow(ctx, storage.Filter{}, func(c storage.Change) bool { changes <- c; return true })
	}()
	t.Cleanup(func() { cancel(); <-done })
	require.Equal(t, storage.Change{CatchUp: true}, changes.next(t))
	return changes
}

func (h heard) next(t *testing.T) (c storage.Change) {
	t.Helper()
	select {
	case c = <-h:
	case <-time.After(time.Minute):
		require.Fail(t, "nothing was heard")
	}
	return c
}

// catchUp skips to the next CatchUp.
func (h heard) catchUp(t *testing.T) {
	t.Helper()
	for !h.next(t).CatchUp {
	}
}

func appendFrame(t *testing.T, s *Store, seq uint64) storage.Change {
	t.Helper()
	b := statsFrame(1, seq, noon)
	_, err := s.Append(t.Context(), []storage.Batch{b})
	require.NoError(t, err)
	r := b.Records[0]
	return storage.Change{AppID: "app", ConferenceID: r.ConferenceID, From: r.At, To: r.At, Records: 5}
}

// A collector hears what another commits, whichever was there first.
//
// spec: DASH-05
func TestFollowOthers(t *testing.T) {
	dsn := migrated(t)
	a := open(t, dsn)
	changes := followAll(t, a)
	b := open(t, dsn)
	others := followAll(t, b)
	for seq := uint64(1); seq <= 6; seq++ {
		want := appendFrame(t, []*Store{a, b}[seq%2], seq)
		require.Equal(t, want, changes.next(t))
		require.Equal(t, want, others.next(t))
	}
}

// A lost connection, and a server that was away, are a gap: the follower catches up, and
// hears again.
func TestFollowReconnects(t *testing.T) {
	server := postgrestest.Durable(t)
	s := open(t, server.Database(t))
	changes := followAll(t, s)
	require.Equal(t, appendFrame(t, s, 1), changes.next(t))

	terminateOthers(t, s)
	changes.catchUp(t)
	require.Equal(t, appendFrame(t, s, 2), changes.next(t))

	server.Stop()
	_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, 3, noon)})
	require.Error(t, err)
	require.NoError(t, server.Start())
	changes.catchUp(t)
	last := appendFrame(t, s, 4)
	for c := changes.next(t); c != last; c = changes.next(t) {
		require.True(t, c.CatchUp, "%+v", c)
	}
}

// Who begins to follow while the server is away gets a CatchUp when it is back.
func TestFollowWithoutServer(t *testing.T) {
	server := postgrestest.Durable(t)
	s := open(t, server.Database(t))
	server.Stop()
	changes := followAll(t, s)
	require.NoError(t, server.Start())
	changes.catchUp(t)
	require.Equal(t, appendFrame(t, s, 1), changes.next(t))
}

func terminateOthers(t *testing.T, s *Store) {
	t.Helper()
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		return err
	}))
}

// What a collector cannot tell, because nobody knows whether it was committed or because
// it was too much, is a gap for all.
func TestFollowWhatWasNotSent(t *testing.T) {
	s := temp(t)
	changes := followAll(t, s)
	s.notifier.requestCatchUp()
	require.True(t, changes.next(t).CatchUp)
	many := make([]storage.Change, maxPending+1)
	for i := range many {
		many[i] = storage.Change{AppID: "app", ConferenceID: strconv.Itoa(i), From: noon, To: noon, Records: 1}
	}
	s.notifier.notify(many)
	require.True(t, changes.next(t).CatchUp)
	require.Equal(t, appendFrame(t, s, 1), changes.next(t))
}

// collectorDSN makes this test binary a collector that commits twice but tells only once.
const collectorDSN = "QOS_TEST_COLLECTOR"

func collect2(t *testing.T, dsn string) {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{notifyPause: time.Hour})
	require.NoError(t, err)
	in := bufio.NewReader(os.Stdin)
	for seq := uint64(1); seq <= 2; seq++ {
		appendFrame(t, s, seq)
		fmt.Println("committed")
		_, err := in.ReadString('\n')
		require.NoError(t, err, "the other test ended")
	}
}

// TestCollectorsThatStart: a collector that starts and ends before anybody looks is missed as well. One that goes on is no reason to
// catch up.
//
// spec: DASH-05
func TestCollectorsThatStart(t *testing.T) {
	dsn := migrated(t)
	s, err := Open(t.Context(), dsn, Options{checkInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	changes := followAll(t, s)
	other, err := Open(t.Context(), dsn, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	appendFrame(t, other, 1)
	require.Equal(t, 5, changes.next(t).Records)
	query[any](t, s, `SELECT pg_notify('`+channel+`', '`+startMessage(-77)+`')`)
	changes.catchUp(t)
}

// A collector that is killed after a commit has notified nobody: the others find out that it
// is gone, and their followers catch up.
//
// spec: DASH-05
func TestFollowCrash(t *testing.T) {
	if dsn := os.Getenv(collectorDSN); dsn != "" {
		collect2(t, dsn)
		return
	}
	dsn := migrated(t)
	s, err := Open(t.Context(), dsn, Options{checkInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	changes := followAll(t, s)

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFollowCrash$")
	cmd.Env = append(os.Environ(), collectorDSN+"="+dsn)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "committed", lines.Text())
	require.Equal(t, 5, changes.next(t).Records, "the first is sent at once")
	_, err = in.Write([]byte("go on\n"))
	require.NoError(t, err)
	require.True(t, lines.Scan())
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	changes.catchUp(t)
	require.EqualValues(t, 10, query[int64](t, s, `SELECT sum(n) FROM qos_frame`))
}
