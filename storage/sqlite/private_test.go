//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// modes returns the modes of a directory's files, by name, but for the lock's journal, which
// is not always there.
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := map[string]fs.FileMode{}
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		found[entry.Name()] = info.Mode().Perm()
	}
	if journal, exists := found["qos.sqlite3.lock-journal"]; exists {
		require.Equal(t, ownerOnly, journal)
		delete(found, "qos.sqlite3.lock-journal")
	}
	return found
}

// privateFiles are those of an open store that was written to.
var privateFiles = map[string]fs.FileMode{
	"qos.sqlite3": 0o600, "qos.sqlite3-wal": 0o600, "qos.sqlite3-shm": 0o600, "qos.sqlite3.lock": 0o600,
}

// shared returns a directory that everyone reads, under a umask.
func shared(t *testing.T, umask int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o755))
	before := syscall.Umask(umask)
	t.Cleanup(func() { syscall.Umask(before) })
	return dir
}

// TestFilesArePrivate: whatever the directory and the umask are, the owner alone reads the
// store, and only the store's files change.
//
// spec: SRV-03
func TestFilesArePrivate(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		dir := shared(t, umask)
		s := open(t, filepath.Join(dir, "qos.sqlite3"))
		require.Equal(t, 5, appendFrames(t, s, 0, 1).New)
		require.Equal(t, privateFiles, modes(t, dir), "umask %#o", umask)
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), "the directory is the operator's")
	}
}

// TestFilesAreTightened: a store that others could read, as a killed process left it.
//
// spec: SRV-03
func TestFilesAreTightened(t *testing.T) {
	dir := shared(t, 0)
	path := filepath.Join(dir, "qos.sqlite3")
	first := open(t, path)
	require.Equal(t, 5, appendFrames(t, first, 0, 1).New)
	copied := shared(t, 0)
	for _, name := range []string{"qos.sqlite3", "qos.sqlite3-wal", "qos.sqlite3-shm"} { // the log holds all
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(copied, name), data, 0o644))
	}
	require.Equal(t, fs.FileMode(0o644), modes(t, copied)["qos.sqlite3-wal"])

	s := open(t, filepath.Join(copied, "qos.sqlite3"))
	require.Equal(t, privateFiles, modes(t, copied))
	require.Equal(t, 5, appendFrames(t, s, 0, 1).Duplicates, "nothing is lost")
	require.Equal(t, privateFiles, modes(t, copied))
}

// TestFilesBehindALinkArePrivate: SQLite's own files are beside the file, not beside the link.
//
// spec: SRV-03
func TestFilesBehindALinkArePrivate(t *testing.T) {
	dir := shared(t, 0o022)
	for name, content := range map[string]string{"real.sqlite3": "", "real.sqlite3-shm": "of a killed process"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	link := filepath.Join(t.TempDir(), "qos.sqlite3")
	require.NoError(t, os.Symlink(filepath.Join(dir, "real.sqlite3"), link))
	s := open(t, link)
	require.Equal(t, 5, appendFrames(t, s, 0, 1).New)
	require.Equal(t, map[string]fs.FileMode{"real.sqlite3": 0o600, "real.sqlite3-wal": 0o600, "real.sqlite3-shm": 0o600}, modes(t, dir))
}
