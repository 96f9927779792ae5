package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// TestLogBeginsAgain: the log does not grow while writes follow each other, although none of them folds it.
//
// spec: SRV-03
func TestLogBeginsAgain(t *testing.T) {
	size := func(pages int) (log int64) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "store.sqlite3")
		s, err := Open(t.Context(), path, Options{foldPages: pages})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		for session := range 100 {
			for range 2 {
				appendFrames(t, s, session, 3)
			}
			awaitFolding(t, s)
		}
		info, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	folded, whole := size(30), size(1<<30)
	require.Greater(t, whole, int64(4<<20))
	require.Less(t, folded, whole/4)
}

// awaitFolding waits until the folding that was asked for is made, which on a busy machine may be long after the writes.
func awaitFolding(t *testing.T, s *Store) {
	t.Helper()
	f := s.writer.folder
	require.Eventually(t, func() bool { return len(f.requests) == 0 }, time.Minute, time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
}

// TestFoldBesideAlone: a job that runs alone, and folds the log itself, does not meet the folder.
func TestFoldBesideAlone(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.sqlite3"), Options{foldPages: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for session := range testenv.Pick(10, 30) {
		appendFrames(t, s, session, 2)
		require.NoError(t, s.writer.do(context.Background(), job{alone: rewrite}))
	}
}
