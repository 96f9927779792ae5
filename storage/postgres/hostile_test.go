package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestHostile(t *testing.T) {
	t.Parallel()
	storagetest.RunHostile(t, func(t *testing.T) storagetest.Store { t.Helper(); return temp(t) })
}

// spec: CONF-01
func TestManyRecords(t *testing.T) { storagetest.RunManyRecords(t, temp(t)) }

const (
	diskEnv   = "QOS_POSTGRES_DISK"
	diskBytes = 16 << 20 // an empty database takes 8
)

// onSmallDisk runs the test again, with a server of its own, in a mount namespace of its
// own, where it gets the path of a small disk. It returns "" to the one outside, which has
// seen the other succeed.
func onSmallDisk(t *testing.T) (dir string) {
	t.Helper()
	if dir := os.Getenv(diskEnv); dir != "" {
		return dir
	}
	database(t) // skips where there is no server
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		testenv.Missing(t, fmt.Errorf("a disk of its own takes the right to mount one: %w: %s", err, out))
	}
	disk, err := os.MkdirTemp("", "qos-disk") //nolint:usetesting // the server's user may not enter t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(disk)) })
	script := fmt.Sprintf(`mount -t tmpfs -o size=%d tmpfs "$1" && exec "$0" -test.v -test.run="^$2\$"`, diskBytes)
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, os.Args[0], disk, t.Name())
	cmd.Env = append(os.Environ(), diskEnv+"="+disk)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	t.Logf("%s", out)
	return ""
}

// smallDatabase makes a database on a disk, and returns its dsn.
func smallDatabase(t *testing.T, dir string) string {
	t.Helper()
	dsn := database(t)
	conn := connect(t, dsn)
	var data string
	require.NoError(t, conn.QueryRow(t.Context(), `SHOW data_directory`).Scan(&data))
	info, err := os.Stat(data)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	require.NoError(t, os.Chown(dir, int(owner.Uid), int(owner.Gid)))
	for _, statement := range []string{
		`CREATE TABLESPACE small LOCATION '` + dir + `'`, `CREATE DATABASE small TABLESPACE small`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() { // while the disk is full the server cannot make a checkpoint, as the end of another database does
		admin, err := pgx.Connect(context.Background(), dsn)
		require.NoError(t, err)
		_, err = admin.Exec(context.Background(), `DROP DATABASE small WITH (FORCE)`)
		require.NoError(t, err)
		require.NoError(t, admin.Close(context.Background()))
	})
	return dsnOf(t, dsn, "small")
}

// The server's disk is full: writes fail and say so, reads go on; when there is room again
// writes go on without a restart, and all that was acknowledged is there once.
//
// spec: SRV-03, SRV-04
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := onSmallDisk(t)
	if dir == "" {
		return
	}
	s := open(t, smallDatabase(t, dir))
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 5<<20), 0o600))
	const step = 200
	frames := func(from uint64) (batches []storage.Batch) {
		for seq := from; seq < from+step; seq++ {
			batches = append(batches, statsFrame(1, seq, noon))
		}
		return batches
	}
	acked := uint64(0)
	var err error
	for err == nil {
		if _, err = s.Append(t.Context(), frames(acked+1)); err == nil {
			acked += step
		}
	}
	require.ErrorContains(t, err, s.name+": append: the server has no space left")
	require.NotErrorIs(t, err, storage.ErrInvalid)
	require.Positive(t, acked)
	_, err = s.Append(t.Context(), frames(acked+1))
	require.ErrorContains(t, err, "no space left")
	read := func() (n int) {
		ref := storage.Ref{AppID: "app", ConferenceID: "conference 0", At: noon.Add(time.Minute)}
		require.NoError(t, s.Records(t.Context(), ref, func(string, storage.Record) bool { n++; return true }))
		return n
	}
	require.Equal(t, int(acked)*5, read())
	require.NoError(t, os.Remove(ballast))
	done, err := s.Append(t.Context(), frames(acked+1))
	require.NoError(t, err)
	require.Equal(t, storage.Appended{New: 5 * step}, done)
	done, err = s.Append(t.Context(), frames(1))
	require.NoError(t, err)
	require.Equal(t, storage.Appended{Duplicates: 5 * step}, done)
	require.Equal(t, int(acked+step)*5, read())
}
