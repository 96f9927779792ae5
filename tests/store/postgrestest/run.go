package postgrestest

import (
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// common is a server that the tests of a package share. The first test that needs it starts it.
type common struct {
	start  func() (*Server, error)
	mu     sync.Mutex
	server *Server
	err    error
}

var (
	shared  = common{start: fast}
	durable = common{start: func() (*Server, error) { return New() }}
)

// fast starts a server for some hundred databases of some hundred files each: its data is in memory where there is room, and
// a database ends with its test.
func fast() (*Server, error) {
	const memory, room = "/dev/shm", 1 << 30
	parent := os.TempDir()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		parent = memory
	}
	s, err := newIn(parent, []string{"fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_wal_size=256MB"})
	if err == nil {
		s.drop = true
	}
	return s, err
}

// Run runs the tests of m. The servers that Shared and Durable started have ended when it returns m's
// exit code.
func Run(m *testing.M) int {
	defer shared.close()
	defer durable.close()
	return m.Run()
}

// Shared returns the fast server of the package under test, whose TestMain calls Run. Tests do not stop it. A test
// is skipped where PostgreSQL is not installed, unless testenv.Required.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	return shared.get(tb)
}

// Durable returns the server of the package under test that keeps each commit. A test that stops or kills it starts it again,
// and does not run in parallel with others. Otherwise it is like Shared.
func Durable(tb testing.TB) *Server {
	tb.Helper()
	return durable.get(tb)
}

func (c *common) get(tb testing.TB) *Server {
	tb.Helper()
	testenv.Program(tb, "initdb")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil && c.err == nil {
		c.server, c.err = c.start()
	}
	require.NoError(tb, c.err)
	return c.server
}

func (c *common) close() {
	if c.server != nil {
		c.server.Close()
	}
}

// Own starts a server, with the server's own defaults, that ends with the test. A test is skipped where PostgreSQL is
// not installed, unless testenv.Required.
func Own(tb testing.TB) *Server {
	tb.Helper()
	testenv.Program(tb, "initdb")
	s, err := New()
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	return s
}

// Database makes an empty database on the server of Shared and returns its DSN.
func Database(tb testing.TB) string {
	tb.Helper()
	return Shared(tb).Database(tb)
}
