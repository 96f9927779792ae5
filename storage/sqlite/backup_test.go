package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// The commands of docs/operations.md, while the store is written to: the copy holds all
// that was acknowledged before it was begun, once, and is a store to go on with.
//
// spec: SRV-03
func TestBackup(t *testing.T) {
	testenv.Program(t, "sqlite3") // by which operators make backups
	dir, backups, restored := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "restored")
	s := open(t, filepath.Join(dir, "qos.sqlite3"))
	load := storagetest.StartLoad(t, s, 8, func(n int, seq uint64) storage.Batch { return statsFrame(n, seq, noon) })
	acked := load.Reach(t, 100)
	require.NoError(t, s.PutSummary(t.Context(), storage.Summary{AppID: "app", ConferenceID: "conference 0", Start: noon, End: noon.Add(time.Minute), Revision: 1}))
	storagetest.Paste(t, "backup-sqlite", "/var/lib/qos", dir, "/var/backups", backups)
	after := load.Reach(t, acked[0]+1)
	load.Stop()
	require.NotEqual(t, acked, after, "it was in use")
	require.Equal(t, "ok\n", storagetest.Paste(t, "check-sqlite", "/var/backups", backups))
	copied, err := os.Stat(filepath.Join(backups, "qos.sqlite3"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), copied.Mode().Perm(), "it holds what is not for everyone")

	storagetest.Paste(t, "restore-sqlite", "/var/lib/qos", restored, "/var/backups", backups)
	r := open(t, filepath.Join(restored, "qos.sqlite3"))
	load.Held(t, r, acked)
	load.Held(t, s, after)
	require.Equal(t, storage.Appended{Duplicates: int(acked[0]) * 5}, appendFrames(t, r, 0, acked[0]))
	done := appendFrames(t, r, 0, after[0]+10)
	require.GreaterOrEqual(t, done.New, 50)
	c, err := r.Conference(t.Context(), storage.Ref{AppID: "app", ConferenceID: "conference 0", At: noon.Add(time.Minute)})
	require.NoError(t, err)
	require.NotNil(t, c.Summary)
}

// The commands of docs/operations.md for a damaged file save what can be read of it.
func TestRecover(t *testing.T) {
	testenv.Program(t, "sqlite3") // by which operators make backups
	dir := t.TempDir()
	path := filepath.Join(dir, "qos.sqlite3")
	writeDamaged(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	const page = 4096
	from := len(data) / page * 2 / 3 * page
	copy(data[from:], make([]byte, page))
	require.NoError(t, os.WriteFile(path, data, 0o600))
	all := damagedRecords()
	s := open(t, path)
	before := whole(t, s, all)
	require.NoError(t, s.Close())
	require.Less(t, before, damagedSessions/4)

	storagetest.Paste(t, "recover-sqlite", "/var/lib/qos", dir)
	require.FileExists(t, path+".damaged")
	s = open(t, path)
	after := whole(t, s, all)
	t.Logf("conferences that can be read in full: %d, recovered %d, of %d", before, after, damagedSessions/4)
	require.GreaterOrEqual(t, after, before)
	for n := range damagedSessions { // what was lost may come again
		done := appendFrames(t, s, n, damagedFrames)
		require.Equal(t, damagedFrames*5, done.New+done.Duplicates, fmt.Sprint("session ", n))
	}
	require.Equal(t, damagedSessions/4, whole(t, s, all))
}
