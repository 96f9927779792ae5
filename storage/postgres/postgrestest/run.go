package postgrestest

import (
	"fmt"
	"os"
	"testing"
)

// shared is the server of the package under test; nil where there is none.
var shared *Server

// quickRecovery: after a crash the server makes every file durable, one by one. Each test
// has a database of some hundred files.
const quickRecovery = "recovery_init_sync_method=syncfs"

// Run starts the shared server and runs the tests of m; the server has ended when it
// returns m's exit code. QOS_POSTGRES=required makes its absence a failure; else the tests
// that ask for it are skipped.
func Run(m *testing.M) int {
	s, err := New(quickRecovery)
	if err != nil {
		fmt.Fprintln(os.Stderr, "PostgreSQL:", err)
		if os.Getenv("QOS_POSTGRES") == "required" {
			return 1
		}
		return m.Run()
	}
	shared = s
	defer s.Close()
	return m.Run()
}

// Shared is the server that Run started. It skips the test where there is none.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	if shared == nil {
		tb.Skip("PostgreSQL is not installed; QOS_POSTGRES=required makes this a failure")
	}
	return shared
}

// Own starts a server that ends with the test. The test is skipped where there is none, unless QOS_POSTGRES=required.
func Own(tb testing.TB) *Server {
	tb.Helper()
	s, err := New()
	if err != nil {
		if os.Getenv("QOS_POSTGRES") == "required" {
			tb.Fatal("PostgreSQL:", err)
		}
		tb.Skip("PostgreSQL:", err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Database makes an empty database on the shared server and returns its DSN.
func Database(tb testing.TB) string {
	tb.Helper()
	return Shared(tb).Database(tb)
}
