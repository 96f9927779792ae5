package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// reader is a store, opened beside the collectors that write to it.
type reader interface {
	storage.Reader
	io.Closer
}

// stores is collectors that share a store.
type stores struct {
	collectors []*collector
	open       func(context.Context) (reader, error)
}

// newStores is one collector with a file of its own.
func newStores(t *testing.T, c *collector) *stores {
	t.Helper()
	return &stores{collectors: []*collector{c}, open: func(ctx context.Context) (reader, error) {
		return sqlite.Open(ctx, storeFile(t, c.store()), sqlite.Options{})
	}}
}

// newRotation is two collectors on one PostgreSQL, or one alone where there is none. They
// do not run yet.
func newRotation(t *testing.T, pages string) *stores {
	t.Helper()
	first := newCollector(t)
	first.origins = append(first.origins, pages)
	dsn, err := startPostgres(t)
	if err != nil {
		require.False(t, testenv.Required(), err)
		t.Logf("one collector alone: %v", err)
		return newStores(t, first)
	}
	first.storage = fmt.Sprintf("{postgres: {dsn: %q}}", dsn)
	second := newCollector(t)
	second.origins, second.storage, second.key = append(second.origins, pages), first.storage, first.key
	return &stores{collectors: []*collector{first, second}, open: func(ctx context.Context) (reader, error) {
		return postgres.Open(ctx, dsn, postgres.Options{})
	}}
}

func (s *stores) start(t *testing.T) {
	t.Helper()
	for _, c := range s.collectors {
		c.startFor(t)
	}
}

// database is a PostgreSQL server that can be stopped and started again.
type database struct {
	t      *testing.T
	dsn    string // of an empty database
	server *exec.Cmd
	make   func() *exec.Cmd
}

// startPostgres starts a server from a distribution's package on a free port of loopback,
// and returns how to reach an empty database.
func startPostgres(t *testing.T) (dsn string, err error) {
	t.Helper()
	d, err := newDatabase(t)
	if err != nil {
		return "", err
	}
	return d.dsn, nil
}

// newDatabase starts a server as startPostgres does.
func newDatabase(t *testing.T) (*database, error) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errors.New("PostgreSQL is not installed")
	}
	slices.Sort(found)
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "qos-e2e-postgres-") //nolint:usetesting // the server's user must get into it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Credential: ownDirectory(t, dir)}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(t.Context(), filepath.Join(bin, "initdb"), "-D", data, "-U", "qos", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	out, err := initdb.CombinedOutput()
	require.NoError(t, err, string(out))
	host, port, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	d := &database{t: t, dsn: fmt.Sprintf("postgres://qos@%s:%s/postgres?sslmode=disable", host, port)}
	d.make = func() *exec.Cmd {
		server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses="+host, "-c", "unix_socket_directories=")
		server.Dir, server.SysProcAttr = dir, attr
		return server
	}
	d.start()
	t.Cleanup(d.stop)
	return d, nil
}

func (d *database) start() {
	d.t.Helper()
	d.server = d.make()
	require.NoError(d.t, d.server.Start())
	browser.Eventually(d.t, patience, "PostgreSQL answers", func() (bool, string) {
		store, err := postgres.Open(d.t.Context(), d.dsn, postgres.Options{})
		if err != nil {
			return false, err.Error()
		}
		return store.Close() == nil, ""
	})
}

// stop ends the server at once, as a crash does.
func (d *database) stop() {
	_ = d.server.Process.Signal(syscall.SIGQUIT)
	_ = d.server.Wait() // was asked to end at once
}

// ownDirectory gives the directory to a user other than root, as which the server refuses
// to run.
func ownDirectory(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, int(uid), int(gid)))
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
