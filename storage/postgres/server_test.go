package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The tests run on a real server from a distribution's package. QOS_POSTGRES=required
// makes its absence a failure.
var testServer *server

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	s, err := startServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "PostgreSQL:", err)
		if os.Getenv("QOS_POSTGRES") == "required" {
			return 1
		}
	}
	testServer = s
	code := m.Run()
	if s != nil {
		s.stop()
		_ = os.RemoveAll(s.dir)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// server is a PostgreSQL server on a free port of loopback, its data in a temporary
// directory, with its own defaults: fsync and synchronous_commit are on.
type server struct {
	dir  string
	bin  string
	port int
	who  *syscall.Credential // nil: ourselves
	cmd  *exec.Cmd
	log  bytes.Buffer
	next atomic.Int64
}

func startServer() (*server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errors.New("not installed: no /usr/lib/postgresql/*/bin/initdb")
	}
	slices.Sort(found)
	s := &server{bin: filepath.Dir(found[len(found)-1])}
	var err error
	if s.dir, err = os.MkdirTemp("", "qos-postgres"); err != nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	out, err := s.command("initdb", "-D", s.data(), "-U", "qos", "-A", "trust", "-E", "UTF8", "--no-locale").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s, s.start()
}

// own gives the directory to a user other than root, as which the server refuses to run.
func (s *server) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, uid, gid)
	}
	return errors.New("no user but root to run it as")
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who}
	return cmd
}

func (s *server) start() error {
	s.cmd = s.command("postgres", "-D", s.data(), "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := pgx.Connect(context.Background(), s.dsn("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not answer: %w", err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// stop ends the server at once; what was committed is in its log.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	_ = s.cmd.Wait()
}

func (s *server) dsn(database string) string {
	return fmt.Sprintf("postgres://qos:very-secret@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// database makes an empty database and returns its dsn.
func database(tb testing.TB) string {
	tb.Helper()
	if testServer == nil {
		tb.Skip("PostgreSQL is not installed; QOS_POSTGRES=required makes this a failure")
	}
	name := fmt.Sprint("test", testServer.next.Add(1))
	conn, err := pgx.Connect(tb.Context(), testServer.dsn("postgres"))
	require.NoError(tb, err)
	_, err = conn.Exec(tb.Context(), "CREATE DATABASE "+name)
	require.NoError(tb, err)
	require.NoError(tb, conn.Close(tb.Context()))
	return testServer.dsn(name)
}

func open(tb testing.TB, dsn string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), dsn, Options{})
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
