package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// patience is how long a server may take to answer, or to end.
const patience = 3 * time.Minute

// Server is a PostgreSQL server with its data. It can be stopped and started again. Its
// methods are not safe for concurrent use, but for DSN, Database and Copy.
type Server struct {
	dir      string
	bin      string
	port     int
	settings []string
	who      *syscall.Credential // nil: ourselves
	cmd      *exec.Cmd           // nil: it does not run
	ended    chan struct{}       // closed when cmd has ended
	log      tail
	dog      *exec.Cmd
	leash    io.WriteCloser // of dog
	next     atomic.Int64   // databases made
	drop     bool           // a database ends with its test

	copying   sync.Mutex
	templates map[string]bool // by name, those that exist
}

// New makes a server's data and starts it. Settings are name=value, as in
// postgresql.conf. Close ends it.
func New(settings ...string) (*Server, error) { return newIn(os.TempDir(), settings) }

func newIn(parent string, settings []string) (*Server, error) {
	initdb, err := testenv.Find("initdb")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: filepath.Dir(initdb), settings: settings, templates: map[string]bool{}}
	if err := s.make(parent); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) make(parent string) (err error) {
	if s.dir, err = os.MkdirTemp(parent, "qos-postgres"); err != nil {
		return err
	}
	if err := s.watch(); err != nil {
		return err
	}
	if err := s.own(); err != nil {
		return err
	}
	address, err := freeport.Address()
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(address, "127.0.0.1:%d", &s.port); err != nil {
		return err
	}
	out, err := s.Command("initdb", "--no-sync", "-D", s.data(), "-U", "qos", "-A", "trust", "-E", "UTF8", "--no-locale").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s.Start()
}

// Close ends the server and removes its data.
func (s *Server) Close() {
	if s.cmd != nil {
		s.Stop()
	}
	if s.dog != nil {
		_ = s.leash.Close()
		_ = s.dog.Wait()
	}
	_ = os.RemoveAll(s.dir) // "" is nothing
}

// Start runs the server again on the same port, and waits until it answers.
func (s *Server) Start() error {
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	cmd := s.Command("postgres", args...)
	cmd.Stderr = &s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // until the last of its processes has closed the log
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	_, _ = fmt.Fprintln(s.leash, cmd.Process.Pid)
	return s.answers()
}

// answers waits until the server takes connections.
func (s *Server) answers() error {
	deadline := time.After(patience)
	for {
		conn, err := pgx.Connect(context.Background(), s.DSN("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ended:
			return fmt.Errorf("it has ended: %s", s.log.String())
		case <-deadline:
			return fmt.Errorf("it does not answer: %w: %s", err, s.log.String())
		}
	}
}

// Stop ends the server at once, as its immediate shutdown does: what was committed is in
// its log. It must run.
func (s *Server) Stop() { s.end(syscall.SIGQUIT) }

// Kill ends the server without a word (SIGKILL). It must run.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(how syscall.Signal) {
	s.Resume() // who is paused hears nothing
	_ = s.cmd.Process.Signal(how)
	<-s.ended
	s.cmd = nil
	_, _ = fmt.Fprintln(s.leash, 0)
}

// Pause stops all processes of the server (SIGSTOP) until Resume: connections remain open without
// an answer.
func (s *Server) Pause() {
	// The parent first, so that it starts no others meanwhile.
	s.signal(syscall.SIGSTOP, s.cmd.Process.Pid)
	s.signal(syscall.SIGSTOP, s.children()...)
}

// Resume continues a paused server.
func (s *Server) Resume() {
	s.signal(syscall.SIGCONT, s.children()...)
	s.signal(syscall.SIGCONT, s.cmd.Process.Pid)
}

func (*Server) signal(what syscall.Signal, pids ...int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, what) // it may have ended
	}
}

// DSN names a database of the server. Its password is a secret and must not be logged.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("postgres://qos:%s@127.0.0.1:%d/%s?sslmode=disable", Password, s.port, database)
}

// Password is part of each DSN, so that tests can search for it in logs and errors. The server
// does not check it.
const Password = "very-secret"

// Database makes an empty database and returns its DSN.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	return s.database(tb, "")
}

// Copy makes a database equal to a template and returns its DSN. The first call with the name of a template makes it: fill
// gets the DSN of an empty database, and leaves no connection to it.
func (s *Server) Copy(tb testing.TB, template string, fill func(dsn string)) string {
	tb.Helper()
	s.copying.Lock()
	defer s.copying.Unlock()
	if !s.templates[template] {
		s.Exec(tb, "postgres", "CREATE DATABASE "+template)
		fill(s.DSN(template))
		s.templates[template] = true
	}
	return s.database(tb, " TEMPLATE "+template+" STRATEGY file_copy") // twice as fast as by the WAL, of some MB without fsync
}

func (s *Server) database(tb testing.TB, options string) string {
	tb.Helper()
	name := fmt.Sprint("test", s.next.Add(1))
	s.Exec(tb, "postgres", "CREATE DATABASE "+name+options)
	if s.drop {
		tb.Cleanup(func() {
			require.NoError(tb, s.exec(context.WithoutCancel(tb.Context()), "postgres", "DROP DATABASE "+name+" WITH (FORCE)"))
		})
	}
	return s.DSN(name)
}

// Exec runs a statement in a database, as its owner.
func (s *Server) Exec(tb testing.TB, database, statement string) {
	tb.Helper()
	require.NoError(tb, s.exec(tb.Context(), database, statement))
}

func (s *Server) exec(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
