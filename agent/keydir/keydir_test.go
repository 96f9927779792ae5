package keydir_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/keydir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newKey returns a key and the text of its file.
func newKey(t *testing.T) (*agent.Key, []byte) {
	t.Helper()
	key, err := agent.GenerateKey()
	require.NoError(t, err)
	text, err := key.MarshalPrivate()
	require.NoError(t, err)
	return key, text
}

func write(t *testing.T, text []byte, path ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(path...), text, 0o600))
}

// replace puts a whole file in place of current.pem, as careful programs do.
func replace(t *testing.T, text []byte, dir string) {
	t.Helper()
	write(t, text, dir, "next")
	require.NoError(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "current.pem")))
}

// watched is a directory that is being followed, with what it reported.
type watched struct {
	*keydir.Dir
	mu      sync.Mutex
	changes []keydir.Change
}

func (w *watched) reported() []keydir.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

func open(t *testing.T, path string) *watched {
	t.Helper()
	w := new(watched)
	dir, err := keydir.Open(path, keydir.Options{Report: func(c keydir.Change) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changes = append(w.changes, c)
	}})
	require.NoError(t, err)
	w.Dir = dir
	return w
}

// watch follows the directory until the test ends.
func watch(t *testing.T, path string) *watched {
	t.Helper()
	w := open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { w.Watch(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return w
}

// signs waits until the key signs. Each look at the file system that is needed for it is
// provoked by again, because the watch may not have stood when the file was changed.
func (w *watched) signs(t *testing.T, key *agent.Key, again func()) {
	t.Helper()
	require.Eventually(t, func() bool {
		if w.Current().Equal(key) {
			return true
		}
		again()
		return false
	}, 20*time.Second, 300*time.Millisecond)
}

// spec: AUTH-08
func TestAKeyIsReplacedByFileChange(t *testing.T) {
	dir := t.TempDir()
	first, text := newKey(t)
	write(t, text, dir, "current.pem")
	w := watch(t, dir)
	require.True(t, w.Current().Equal(first))
	for _, change := range []func([]byte){
		func(text []byte) { replace(t, text, dir) },              // at one blow
		func(text []byte) { write(t, text, dir, "current.pem") }, // in place
		func(text []byte) { // by a link
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "next")))
			write(t, text, dir, "november.pem")
			require.NoError(t, os.Symlink("november.pem", filepath.Join(dir, "next")))
			require.NoError(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "current.pem")))
		},
	} {
		next, text := newKey(t)
		change(text)
		w.signs(t, next, func() { change(text) })
	}
	require.False(t, w.Failed())
}

// TestKubernetesSecret: files are links to ..data/<file>, and ..data is a link that is
// renamed over the old one.
//
// spec: AUTH-08
func TestKubernetesSecret(t *testing.T) {
	dir := t.TempDir()
	publish := func(version string, text []byte) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, version), 0o700))
		write(t, text, dir, version, "current.pem")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Symlink(version, filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	first, text := newKey(t)
	publish("..2026_01", text)
	require.NoError(t, os.Symlink("..data/current.pem", filepath.Join(dir, "current.pem")))
	w := watch(t, dir)
	require.True(t, w.Current().Equal(first))
	second, text := newKey(t)
	publish("..2026_02", text)
	w.signs(t, second, func() { publish("..2026_02", text) })
}

// TestInterval: a change is used after Interval and the time to settle, not before. A directory that
// is removed and made again is followed too, and its absence is reported once.
//
// spec: AUTH-08
func TestInterval(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.Mkdir(dir, 0o700))
	first, text := newKey(t)
	write(t, text, dir, "current.pem")
	w := open(t, dir)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.Watch(ctx); close(ended) }()
		synctest.Wait()
		second, text := newKey(t)
		replace(t, text, dir)
		<-time.After(keydir.Interval)
		require.True(t, w.Current().Equal(first), "it may be written still")
		<-time.After(keydir.Interval / 2)
		require.True(t, w.Current().Equal(second))
		require.NoError(t, os.RemoveAll(dir))
		<-time.After(5 * keydir.Interval)
		require.True(t, w.Failed())
		require.True(t, w.Current().Equal(second))
		require.Len(t, w.reported(), 2)
		require.ErrorContains(t, w.reported()[1].Err, "read the key directory")
		third, text := newKey(t)
		require.NoError(t, os.Mkdir(dir, 0o700))
		write(t, text, dir, "current.pem")
		<-time.After(2 * keydir.Interval)
		require.True(t, w.Current().Equal(third))
		require.False(t, w.Failed())
		cancel()
		<-ended
	})
}

// TestAChangeBeforeTheWatch: what was replaced between Open and Watch is seen, not only
// with the next look.
//
// spec: AUTH-08
func TestAChangeBeforeTheWatch(t *testing.T) {
	dir := t.TempDir()
	_, text := newKey(t)
	write(t, text, dir, "current.pem")
	w := open(t, dir)
	second, text := newKey(t)
	replace(t, text, dir)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.Watch(ended)
	require.True(t, w.Current().Equal(second))
}

// TestABadFileKeepsTheOldKey: and says so once.
//
// spec: AUTH-08
func TestABadFileKeepsTheOldKey(t *testing.T) {
	dir := t.TempDir()
	good, text := newKey(t)
	write(t, text, dir, "current.pem")
	w := open(t, dir)
	for _, spoil := range []func(){
		func() { write(t, text[:60], dir, "current.pem") },
		func() { require.NoError(t, os.Chmod(filepath.Join(dir, "current.pem"), 0o644)) },
		func() { require.NoError(t, os.Remove(filepath.Join(dir, "current.pem"))) },
		func() { require.NoError(t, os.Mkdir(filepath.Join(dir, "current.pem"), 0o700)) },
	} {
		before := len(w.reported())
		spoil()
		require.Error(t, w.Reload())
		require.Error(t, w.Reload())
		require.True(t, w.Failed())
		require.True(t, w.Current().Equal(good))
		require.Len(t, w.reported(), before+1, "reported once")
		last := w.reported()[before]
		require.Error(t, last.Err)
		require.True(t, last.Key.Equal(good))
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "current.pem")))
	write(t, text, dir, "current.pem")
	require.NoError(t, w.Reload())
	require.False(t, w.Failed())
	require.Len(t, w.reported(), 4, "the same key again is no news")
	next, text := newKey(t)
	replace(t, text, dir)
	require.NoError(t, w.Reload())
	require.Len(t, w.reported(), 5)
	require.True(t, w.reported()[4].Key.Equal(next))
	require.NoError(t, w.reported()[4].Err)
}

func TestWhichFileSigns(t *testing.T) {
	dir := t.TempDir()
	_, err := keydir.Open(filepath.Join(dir, "none"), keydir.Options{})
	require.ErrorContains(t, err, "no such file")
	_, err = keydir.Open(dir, keydir.Options{})
	require.ErrorContains(t, err, "holds no *.pem")
	only, text := newKey(t)
	write(t, text, dir, "a.pem")
	write(t, []byte("of no interest"), dir, "README")
	require.True(t, open(t, dir).Current().Equal(only))
	_, text = newKey(t)
	write(t, text, dir, "b.pem")
	_, err = keydir.Open(dir, keydir.Options{})
	require.ErrorContains(t, err, "current.pem must say")
	require.NoError(t, os.Symlink("a.pem", filepath.Join(dir, "current.pem")))
	require.True(t, open(t, dir).Current().Equal(only))
	write(t, make([]byte, 65<<10), dir, "a.pem")
	_, err = keydir.Open(dir, keydir.Options{})
	require.ErrorContains(t, err, "more than")
}

// spec: AUTH-08
func TestOthersMustNotReadTheKey(t *testing.T) {
	dir := t.TempDir()
	_, text := newKey(t)
	path := filepath.Join(dir, "current.pem")
	write(t, text, path)
	for mode, permitted := range map[os.FileMode]os.FileMode{0o640: 0o040, 0o604: 0o004, 0o620: 0o020, 0o777: 0o077} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := keydir.Open(dir, keydir.Options{})
		require.ErrorContains(t, err, "others may use it", mode)
		_, err = keydir.Open(dir, keydir.Options{Permissions: permitted})
		require.NoError(t, err, mode)
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := keydir.Open(dir, keydir.Options{})
		require.NoError(t, err)
	}
}
