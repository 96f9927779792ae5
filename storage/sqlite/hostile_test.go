package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestHostile(t *testing.T) {
	storagetest.RunHostile(t, func(t *testing.T) storagetest.Store { t.Helper(); return temp(t) })
}

// spec: CONF-01
func TestManyRecords(t *testing.T) { storagetest.RunManyRecords(t, temp(t)) }

// damaged is a store of conferences whose files tests spoil.
const (
	damagedSessions = 40 // four a conference
	damagedFrames   = 12 // of five records, about 1 kB each
)

func writeDamaged(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	for n := range damagedSessions {
		appendFrames(t, s, n, damagedFrames)
	}
	require.NoError(t, s.Close())
}

type identity struct {
	session string
	seq     uint64
	index   int
}

// damagedRecords is all that writeDamaged wrote.
func damagedRecords() map[identity]storage.Record {
	all := map[identity]storage.Record{}
	for n := range damagedSessions {
		for seq := uint64(1); seq <= damagedFrames; seq++ {
			b := statsFrame(n, seq, noon)
			for _, r := range b.Records {
				all[identity{b.Session.ID, r.Seq, r.Index}] = r
			}
		}
	}
	return all
}

// whole returns which conferences can be read in full, and holds every error to naming the
// file: an error is all right here, a wrong record is not.
func whole(t *testing.T, s *Store, all map[identity]storage.Record) (n int) {
	t.Helper()
	for c := range damagedSessions / 4 {
		ref := storage.Ref{AppID: "app", ConferenceID: fmt.Sprint("conference ", c), At: noon.Add(time.Minute)}
		got := map[identity]bool{}
		err := s.Records(t.Context(), ref, func(session string, r storage.Record) bool {
			id := identity{session, r.Seq, r.Index}
			if !reflect.DeepEqual(all[id], r) {
				require.Equal(t, all[id], r)
			}
			got[id] = true
			return true
		})
		if err != nil {
			namesFile(t, err, s.path)
			continue
		}
		if len(got) == 4*damagedFrames*5 {
			n++
		}
	}
	return n
}

func namesFile(t *testing.T, err error, path string) {
	t.Helper()
	require.ErrorContains(t, err, path)
	require.NotErrorIs(t, err, storage.ErrInvalid, "the record is not at fault")
}

// A page of the file is spoilt, wherever it lies: opening says so, or reading what stood
// there; the other conferences are read, and new ones are written unless the damage is in
// what they need.
//
// spec: SRV-03
func TestDamagedPages(t *testing.T) {
	source := filepath.Join(t.TempDir(), "store.sqlite3")
	writeDamaged(t, source)
	data, err := os.ReadFile(source)
	require.NoError(t, err)
	all := damagedRecords()
	const page, samples = 4096, 8
	pages := len(data) / page
	opened, complete, partly, written := 0, 0, 0, 0
	for i := range samples {
		for _, fill := range []byte{0, 0xff} {
			path := filepath.Join(t.TempDir(), "store.sqlite3")
			from := (1 + (pages-1)*i/samples) * page // page 1 is TestOpenRefuses'
			spoilt := bytes.Clone(data)
			copy(spoilt[from:], bytes.Repeat([]byte{fill}, page))
			require.NoError(t, os.WriteFile(path, spoilt, 0o600))
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				namesFile(t, err, path)
				require.ErrorContains(t, err, "damaged")
				continue
			}
			opened++
			switch n := whole(t, s, all); n {
			case damagedSessions / 4:
				complete++
			case 0:
			default:
				partly++
			}
			if _, err := s.Append(t.Context(), []storage.Batch{statsFrame(1000, 1, noon)}); err != nil {
				namesFile(t, err, path)
				require.ErrorContains(t, err, "damaged")
			} else {
				written++
			}
			require.NoError(t, s.Close())
		}
	}
	t.Logf("of %d damages %d let the store open; of these %d took no record of a conference, %d those of some; %d let it write", 2*samples, opened, complete, partly, written)
	require.Greater(t, opened, samples, "most pages hold frames")
	require.Positive(t, partly, "one page does not take all conferences")
	require.Greater(t, written, samples/2)
}

// A file that was cut off is refused, or what is left of it is read.
//
// spec: SRV-03
func TestTruncated(t *testing.T) {
	source := filepath.Join(t.TempDir(), "store.sqlite3")
	writeDamaged(t, source)
	data, err := os.ReadFile(source)
	require.NoError(t, err)
	all, refused := damagedRecords(), 0
	for _, size := range []int{1, 99, 100, 4095, 4096, 8192, len(data) / 2, len(data)/2 + 1, len(data) - 4096} {
		path := filepath.Join(t.TempDir(), "store.sqlite3")
		require.NoError(t, os.WriteFile(path, data[:size], 0o600))
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			namesFile(t, err, path)
			require.ErrorContains(t, err, "damaged", size)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, data[:size], left, "it is left as it is")
			refused++
			continue
		}
		require.Less(t, whole(t, s, all), damagedSessions/4, size)
		require.NoError(t, s.Close())
	}
	require.Positive(t, refused)
}

// An empty file is a new one, unless a log says that it was not.
func TestEmptyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.Equal(t, storage.Appended{New: 5}, appendFrames(t, open(t, path), 1, 1))

	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "a"))
	appendFrames(t, s, 1, 3)
	lost := filepath.Join(dir, "b")
	log, err := os.ReadFile(s.path + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(lost, nil, 0o600))
	require.NoError(t, os.WriteFile(lost+"-wal", log, 0o600))
	_, err = Open(t.Context(), lost, Options{})
	require.ErrorContains(t, err, lost)
	require.ErrorContains(t, err, "empty")
	left, err := os.ReadFile(lost + "-wal")
	require.NoError(t, err)
	require.Equal(t, log, left, "the log is all that there is")

	zeros := filepath.Join(dir, "zeros")
	require.NoError(t, os.WriteFile(zeros, make([]byte, 8192), 0o600))
	_, err = Open(t.Context(), zeros, Options{})
	namesFile(t, err, zeros)
	require.ErrorContains(t, err, "damaged")
}

// Garbage in the write-ahead log: what was folded into the file stays, and of the log what
// stands before the damage. Nothing after it can be trusted.
//
// spec: SRV-03
func TestDamagedLog(t *testing.T) {
	const frames = 40
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "a"))
	appendFrames(t, s, 1, 3)
	require.NoError(t, s.Close()) // the log is folded into the file
	s = open(t, s.path)
	for seq := uint64(4); seq <= frames; seq++ {
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, seq, noon)})
		require.NoError(t, err)
	}
	file, err := os.ReadFile(s.path)
	require.NoError(t, err)
	log, err := os.ReadFile(s.path + "-wal")
	require.NoError(t, err)
	spoil := func(from, n int) []byte {
		out := bytes.Clone(log)
		copy(out[from:], bytes.Repeat([]byte("garbage "), n/8+1)[:min(n, len(out)-from)])
		return out
	}
	for name, wal := range map[string][]byte{
		"whole":    log,
		"header":   spoil(0, 32),
		"all":      spoil(0, len(log)),
		"middle":   spoil(len(log)/2, 64),
		"cut off":  log[:len(log)/2+7],
		"longer":   append(bytes.Clone(log), bytes.Repeat([]byte("x"), 9999)...),
		"a letter": []byte("x"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "b")
			require.NoError(t, os.WriteFile(path, file, 0o600))
			require.NoError(t, os.WriteFile(path+"-wal", wal, 0o600))
			left := open(t, path)
			seqs := map[uint64]int{}
			ref := storage.Ref{AppID: "app", ConferenceID: "conference 0", At: noon.Add(time.Minute)}
			require.NoError(t, left.Records(t.Context(), ref, func(_ string, r storage.Record) bool {
				seqs[r.Seq]++
				require.Equal(t, statsFrame(1, r.Seq, noon).Records[r.Index], r)
				return true
			}))
			for seq := range uint64(len(seqs)) {
				require.Equal(t, 5, seqs[seq+1], "the first ones, without a hole")
			}
			switch name {
			case "whole", "longer":
				require.Len(t, seqs, frames)
			case "middle", "cut off":
				require.Greater(t, len(seqs), 3)
				require.Less(t, len(seqs), frames)
			default:
				require.Len(t, seqs, 3)
			}
			require.Equal(t, storage.Appended{New: 5 * (frames - len(seqs)), Duplicates: 5 * len(seqs)}, appendFrames(t, left, 1, frames))
		})
	}
}

// Another process holds the lock: writes fail, within the time that they may wait, reads
// go on; when it lets go, writes go on without a restart.
//
// spec: SRV-03, SRV-04
func TestLockedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.sqlite3")
	s, err := Open(t.Context(), path, Options{busyTimeout: 100 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	appendFrames(t, s, 1, 2)
	release := helper(t, "lock", path)
	for range 3 {
		_, err = s.Append(t.Context(), []storage.Batch{statsFrame(1, 3, noon)})
		namesFile(t, err, path)
		require.ErrorContains(t, err, "another program holds a lock")
		_, err = s.DeleteBefore(t.Context(), noon)
		require.ErrorContains(t, err, "another program holds a lock")
	}
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1)
	release()
	require.Equal(t, storage.Appended{New: 5, Duplicates: 10}, appendFrames(t, s, 1, 3))
}

const (
	diskEnv   = "QOS_SQLITE_DISK"
	diskBytes = 8 << 20
)

// onSmallDisk runs the test again in a mount namespace of its own, where it gets the path
// of a small disk. It returns "" to the one outside, which has seen the other succeed.
func onSmallDisk(t *testing.T) (dir string) {
	t.Helper()
	if dir := os.Getenv(diskEnv); dir != "" {
		return dir
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		testenv.Missing(t, fmt.Errorf("a disk of its own takes the right to mount one: %w: %s", err, out))
	}
	dir = t.TempDir()
	script := fmt.Sprintf(`mount -t tmpfs -o size=%d tmpfs "$1" && exec "$0" -test.v -test.run="^$2\$"`, diskBytes)
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, os.Args[0], dir, t.Name())
	cmd.Env = append(os.Environ(), diskEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	t.Logf("%s", out)
	return ""
}

// The disk is full: writes fail and say so, reads go on; when there is room again writes
// go on without a restart, and all that was acknowledged is there once.
//
// spec: SRV-03, SRV-04
func TestFullDisk(t *testing.T) {
	dir := onSmallDisk(t)
	if dir == "" {
		return
	}
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, diskBytes*3/4), 0o600))
	s := open(t, filepath.Join(dir, "store.sqlite3"))
	acked := uint64(0)
	for refused := 0; refused < 4; { // a frame that needs no new page may find room after one that did not
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, acked+1, noon)})
		if err == nil {
			acked, refused = acked+1, 0
			continue
		}
		refused++
		namesFile(t, err, s.path)
		require.ErrorContains(t, err, "no space left")
	}
	require.Greater(t, acked, uint64(10))
	read := func() (n int) {
		ref := storage.Ref{AppID: "app", ConferenceID: "conference 0", At: noon.Add(time.Minute)}
		require.NoError(t, s.Records(t.Context(), ref, func(string, storage.Record) bool { n++; return true }))
		return n
	}
	require.Equal(t, int(acked)*5, read())

	require.NoError(t, os.Remove(ballast))
	require.Equal(t, storage.Appended{New: 25, Duplicates: int(acked) * 5}, appendFrames(t, s, 1, acked+5))
	require.Equal(t, int(acked+5)*5, read())
	require.NoError(t, s.Close())
	s = open(t, s.path)
	require.Equal(t, storage.Appended{Duplicates: int(acked+5) * 5}, appendFrames(t, s, 1, acked+5))
}

// A directory that cannot be written to is refused, and goes when it can.
func TestReadOnlyDirectory(t *testing.T) {
	dir := onSmallDisk(t)
	if dir == "" {
		return
	}
	path := filepath.Join(dir, "store.sqlite3")
	s := open(t, path)
	appendFrames(t, s, 1, 3)
	require.NoError(t, s.Close())
	mount := func(how string) {
		out, err := exec.CommandContext(context.Background(), "mount", "-o", "remount,"+how, dir).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	mount("ro")
	for _, path := range []string{path, filepath.Join(dir, "new.sqlite3")} {
		_, err := Open(t.Context(), path, Options{})
		namesFile(t, err, path)
		require.ErrorContains(t, err, "cannot be written")
	}
	mount("rw")
	require.Equal(t, storage.Appended{Duplicates: 15}, appendFrames(t, open(t, path), 1, 3))
}
