package sqlite

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// Before a migration is added, this writes a store of the schema before it, by the code of
// that schema: go test ./storage/sqlite -run TestReleased -released.
var writeReleased = flag.Bool("released", false, "write testdata/schema<N> for the newest schema")

var kept = storagetest.Migrations{FS: migrations, Store: "store.sqlite3.gz"}

// A store of each released schema is brought up to date, and nothing of it is lost; nor of one
// of this schema that is closed and opened again.
//
// spec: SRV-03, CONF-01
func TestReleased(t *testing.T) {
	if *writeReleased {
		makeReleased(t)
	}
	storagetest.EachReleased(t, func(t *testing.T, schema int, contents []byte) {
		t.Helper()
		storagetest.RunReleased(t, open(t, unpack(t, storagetest.SchemaDir(schema))), contents)
	})
	t.Run("this schema", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.sqlite3")
		s := open(t, path)
		storagetest.WriteReleased(t, s)
		contents := storagetest.Contents(t, s)
		require.NoError(t, s.Close())
		storagetest.RunReleased(t, open(t, path), contents)
	})
}

// unpack returns the path of a released store.
func unpack(tb testing.TB, dir string) string {
	tb.Helper()
	r, err := gzip.NewReader(bytes.NewReader(kept.Read(tb, dir)))
	require.NoError(tb, err)
	data, err := io.ReadAll(r)
	require.NoError(tb, err)
	path := filepath.Join(tb.TempDir(), "store.sqlite3")
	require.NoError(tb, os.WriteFile(path, data, 0o600))
	return path
}

func makeReleased(t *testing.T) {
	t.Helper()
	s := temp(t)
	storagetest.WriteReleased(t, s)
	golden := storagetest.Contents(t, s)
	require.NoError(t, s.Close())
	data, err := os.ReadFile(s.path)
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	kept.Write(t, packed.Bytes(), golden)
}

// A migration that is listed was released, and never changes. One that another follows is
// listed, and a store of its schema is kept for TestReleased.
func TestMigrationsAreKept(t *testing.T) {
	kept.Kept(t)
}

// helperEnv names the store that TestHelper works on, in a process of its own.
const helperEnv = "QOS_SQLITE_HELPER"

// helper starts this program again as another process that runs TestHelper, and returns
// once that says that it is where it is to be. The process is killed when the test ends.
func helper(t *testing.T, what, path string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$/^"+what+"$")
	cmd.Env = append(os.Environ(), helperEnv+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	hold, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ended := false
	kill = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Kill()
		_ = hold.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == helperReady {
			return kill
		}
		t.Log(what + ": " + lines.Text())
	}
	require.Fail(t, "the other process ended")
	return nil
}

const helperReady = "ready"

// TestHelper is what helper runs, and nothing elsewhere: it does something to a store and waits to be killed.
func TestHelper(t *testing.T) {
	path := os.Getenv(helperEnv)
	if path == "" {
		return
	}
	wait := func() {
		_, _ = fmt.Fprintln(os.Stdout, helperReady)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	t.Run("migrate", func(t *testing.T) {
		migrateHalfway(t, path)
		wait()
	})
	t.Run("lock", func(t *testing.T) {
		db, err := openDB(path, Options{})
		require.NoError(t, err)
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
		require.NoError(t, err)
		wait()
	})
}

// migrateHalfway does all of the next migration but its commit, on pages that no cache
// holds back.
func migrateHalfway(t *testing.T, path string) {
	t.Helper()
	db, err := openDB(path, Options{}, append([]string{"cache_size(1)", "cache_spill(1)"}, writerPragmas[1])...)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	var have int
	require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&have))
	text, err := migrations.ReadFile(kept.Files(t)[have])
	require.NoError(t, err)
	for _, statement := range []string{"BEGIN IMMEDIATE", string(text), fmt.Sprintf("PRAGMA user_version = %d", have+1)} {
		_, err = conn.ExecContext(context.Background(), statement)
		require.NoError(t, err)
	}
}

// A process that is killed in the middle of a migration leaves the schema as it was, and
// the next start does it whole.
//
// spec: SRV-03
func TestMigrationKilled(t *testing.T) {
	t.Run("new file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.sqlite3")
		helper(t, "migrate", path)()
		s := open(t, path)
		require.Equal(t, storage.Appended{New: 15}, appendFrames(t, s, 1, 3))
	})
	storagetest.EachReleased(t, func(t *testing.T, schema int, contents []byte) {
		t.Helper()
		path := unpack(t, storagetest.SchemaDir(schema))
		helper(t, "migrate", path)()
		require.FileExists(t, path+"-wal", "it was killed, it did not end")
		storagetest.RunReleased(t, open(t, path), contents)
	})
}
