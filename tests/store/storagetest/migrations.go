package storagetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Migrations are the migrations of an engine, with the stores of released schemas in
// testdata/schema<N>.
type Migrations struct {
	FS    fs.FS  // holds migrations/*.sql
	Store string // the file name of a store
}

// releasedContents is the file with the Contents of the store beside it.
const releasedContents = "contents.json"

// SchemaDir returns the directory of the store of schema n.
func SchemaDir(n int) string { return filepath.Join("testdata", fmt.Sprint("schema", n)) }

// Files returns the names of the migrations, in order.
func (m Migrations) Files(tb testing.TB) []string {
	tb.Helper()
	files, err := fs.Glob(m.FS, "migrations/*.sql")
	require.NoError(tb, err)
	return files
}

// Read returns the store in a directory.
func (m Migrations) Read(tb testing.TB, dir string) []byte {
	tb.Helper()
	return readFile(tb, dir, m.Store)
}

// ReleasedContents returns what the store in a directory contains.
func ReleasedContents(tb testing.TB, dir string) []byte {
	tb.Helper()
	return readFile(tb, dir, releasedContents)
}

// Write writes a store of the newest schema, and its contents.
func (m Migrations) Write(t *testing.T, store, contents []byte) {
	t.Helper()
	dir := SchemaDir(len(m.Files(t)))
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, releasedContents), contents, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, m.Store), store, 0o600))
}

// EachReleased runs a test for each stored store, with the number of its schema and its
// contents. Before the first release there is none.
func EachReleased(t *testing.T, run func(t *testing.T, schema int, contents []byte)) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("testdata", "schema*"))
	require.NoError(t, err)
	for n := range dirs {
		dir := SchemaDir(n + 1)
		t.Run(filepath.Base(dir), func(t *testing.T) { run(t, n+1, ReleasedContents(t, dir)) })
	}
}

// Kept requires that a migration in testdata/migrations.sha256, which was released, never
// changes. After the first release, every migration but the last must be listed, and have a store of its
// schema.
func (m Migrations) Kept(t *testing.T) {
	t.Helper()
	listed := map[string]string{}
	for line := range strings.Lines(string(readFile(t, "testdata", "migrations.sha256"))) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		listed[name] = sum
	}
	files, none := m.Files(t), len(listed) == 0
	for i, name := range files {
		text, err := fs.ReadFile(m.FS, name)
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		want, ok := listed[name]
		if ok {
			require.Equal(t, want, hex.EncodeToString(sum[:]), "%s was released and must not change: add another", name)
		}
		delete(listed, name)
		if none || i == len(files)-1 {
			continue
		}
		require.True(t, ok, "%s has a follower, so it is released: list its sum", name)
		require.FileExists(t, filepath.Join(SchemaDir(i+1), m.Store), "a store of the schema before %s: see -released", files[i+1])
		require.FileExists(t, filepath.Join(SchemaDir(i+1), releasedContents))
	}
	require.Empty(t, listed, "listed, but gone")
}

func readFile(tb testing.TB, dir, name string) []byte {
	tb.Helper()
	data, err := fs.ReadFile(os.DirFS(dir), name)
	require.NoError(tb, err)
	return data
}
