package delivery

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// disk is a small file system that only processes of its mount namespace see.
type disk struct {
	t      *testing.T
	dir    string // in the namespace
	holder int    // the process that keeps the namespace
}

// newDisk needs the right to mount.
func newDisk(t *testing.T, size string) *disk {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size="$1" tmpfs "$0" && echo mounted && exec cat`, dir, size)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	err = cmd.Start()
	if err == nil {
		t.Cleanup(func() {
			_ = in.Close() // ends cat, and with it the namespace
			_ = cmd.Wait()
		})
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		testenv.Missing(t, fmt.Errorf("the right to mount in a namespace is missing (root has it): %w", err))
	}
	return &disk{t, dir, cmd.Process.Pid}
}

// outside is where this process sees the file system.
func (d *disk) outside() string { return fmt.Sprintf("/proc/%d/root%s", d.holder, d.dir) }

// launcher starts a process inside.
func (d *disk) launcher() []string {
	return []string{"nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", d.holder), "--"}
}

// fill takes all space that is left.
func (d *disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.outside(), "fill"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(d.t, err)
	_, err = io.Copy(f, zeros{})
	require.ErrorIs(d.t, err, syscall.ENOSPC)
	require.NoError(d.t, f.Close())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// free gives the space back.
func (d *disk) free() {
	d.t.Helper()
	require.NoError(d.t, os.Remove(filepath.Join(d.outside(), "fill")))
}

// TestDiskThatFillsUp takes the space away under load and gives it back. Meanwhile the
// collector defers what it cannot keep, and it recovers without a restart.
//
// spec: SRV-03, SRV-04
func TestDiskThatFillsUp(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "64m")
	store := t.TempDir()
	r := newRunOn(t, time.Second, store, harness.Options{Storage: harness.SQLite(filepath.Join(d.dir, "store")), Launcher: d.launcher()})
	r.stopped = func() { // SQLite would resolve the link in the path
		require.NoError(t, os.CopyFS(store, os.DirFS(filepath.Join(d.outside(), "store"))))
	}
	r.add(3, harness.Habits{})
	r.loadUntil(func(ctx context.Context) {
		harness.Pause(ctx, r.length)
		d.fill()
		require.Eventually(t, func() bool {
			return r.collector.Metrics().Sum("otelcol_receiver_qoswss_frames_deferred") > 200
		}, harness.Patience, 20*time.Millisecond)
		require.Regexp(t, `"exporter:qosstore":\{[^}]*"StatusRecoverableError"[^}]*no space left`, r.collector.Health())
		d.free()
		require.Eventually(t, func() bool { return !strings.Contains(r.collector.Health(), "no space left") },
			harness.Patience, 20*time.Millisecond)
		harness.Pause(ctx, r.length)
	})
	slowed := 0
	for _, c := range r.clients {
		slowed += c.Slowed
	}
	require.NotZero(t, slowed, "a client is asked to wait")
	a := r.settled()
	a.balance(t, r.balance())
	require.NotZero(t, a.turnedAway)
	require.Equal(t, 1, r.collector.Starts())
	requireFewLines(t, r.collector.Log(), "no space left")
}

// requireFewLines checks the log of a collector whose store was away: each message is there once a minute, without a stack.
func requireFewLines(t *testing.T, log, reason string) {
	t.Helper()
	require.Contains(t, log, reason)
	require.NotContains(t, log, "\n\t", "a stack")
	require.Less(t, strings.Count(log, "\n"), 40)
}
