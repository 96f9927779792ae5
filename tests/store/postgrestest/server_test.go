package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv("QOS_POSTGRES_ORPHAN") != "" {
		orphan()
	}
	code := Run(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// orphan starts a server, says which, and waits for its end by SIGKILL.
func orphan() {
	s, err := New()
	if err != nil {
		panic(err)
	}
	s.Pause() // the hardest to end
	fmt.Println(s.cmd.Process.Pid, s.dir)
	select {}
}

// TestTheServerEndsWithTheTests, though nobody could say so.
func TestTheServerEndsWithTheTests(t *testing.T) {
	testenv.Program(t, "initdb")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "QOS_POSTGRES_ORPHAN=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NoError(t, err)
	pid, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	number, err := strconv.Atoi(pid)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err) && ended(number)
	}, patience, 20*time.Millisecond)
}

// ended reports whether a process runs no more; nobody may have waited for it.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), ") Z ")
}

// TestAServerComesBack from each way in which it goes, with what was committed.
func TestAServerComesBack(t *testing.T) {
	s := Durable(t)
	dsn := s.Database(t)
	name := dsn[strings.LastIndexByte(dsn, '/')+1 : strings.IndexByte(dsn, '?')]
	s.Exec(t, name, "CREATE TABLE t (v int)")
	for i, end := range []func(){s.Stop, s.Kill, func() { s.Pause(); s.Stop() }, func() { s.Pause(); s.Kill() }} {
		s.Exec(t, name, "INSERT INTO t VALUES (1)")
		end()
		_, err := pgx.Connect(t.Context(), dsn)
		require.Error(t, err)
		require.NoError(t, s.Start())
		require.Equal(t, i+1, count(t, dsn))
	}
}

// TestCopy: a copy has what its template has, its template is made once, and a database of the shared server ends with its
// test.
func TestCopy(t *testing.T) {
	s := Shared(t)
	made := 0
	fill := func(dsn string) {
		made++
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE t (v int); INSERT INTO t VALUES (1)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
	}
	var first string
	t.Run("first", func(t *testing.T) {
		first = s.Copy(t, "template", fill)
		conn, err := pgx.Connect(t.Context(), first)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "INSERT INTO t VALUES (2)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		require.Equal(t, 2, count(t, first))
	})
	require.Equal(t, 1, count(t, s.Copy(t, "template", fill)))
	require.Equal(t, 1, made)
	_, err := pgx.Connect(t.Context(), first)
	require.ErrorContains(t, err, "does not exist")
}

func count(t *testing.T, dsn string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n))
	require.NoError(t, conn.Close(t.Context()))
	return n
}

// TestPause: an open connection waits, and is answered afterwards.
func TestPause(t *testing.T) {
	s := Durable(t)
	conn, err := pgx.Connect(t.Context(), s.Database(t))
	require.NoError(t, err)
	s.Pause()
	for _, pid := range append(s.children(), s.cmd.Process.Pid) {
		require.Eventually(t, func() bool { return paused(t, pid) }, patience, time.Millisecond)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT 1")
		answered <- err
	}()
	s.Resume()
	require.NoError(t, <-answered)
	require.NoError(t, conn.Close(t.Context()))
}

// paused says whether a process stands still: stopped, or ended while nobody collects it.
func paused(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	return strings.Contains(string(stat), ") T ") || strings.Contains(string(stat), ") Z ")
}

func TestSettings(t *testing.T) {
	testenv.Program(t, "initdb")
	s, err := New("max_connections=7")
	require.NoError(t, err)
	defer s.Close()
	conn, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	require.NoError(t, err)
	var n string
	require.NoError(t, conn.QueryRow(t.Context(), "SHOW max_connections").Scan(&n))
	require.Equal(t, "7", n)
	require.NoError(t, conn.Close(t.Context()))
	_, err = New("no_such_setting=1")
	require.ErrorContains(t, err, "no_such_setting")
}
