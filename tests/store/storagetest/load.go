package storagetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Load appends to a store from several sessions, one frame after the other, until Stop.
type Load struct {
	frame func(session int, seq uint64) storage.Batch
	acked []atomic.Uint64 // frames that are stored, by session
	wg    sync.WaitGroup
	end   context.CancelFunc
}

// StartLoad starts to append the frames that frame returns, from seq 1 on.
func StartLoad(t *testing.T, s storage.Writer, sessions int, frame func(session int, seq uint64) storage.Batch) *Load {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &Load{frame: frame, acked: make([]atomic.Uint64, sessions), end: cancel}
	for n := range l.acked {
		l.wg.Go(func() {
			for seq := uint64(1); ctx.Err() == nil; seq++ {
				if _, err := s.Append(context.Background(), []storage.Batch{frame(n, seq)}); err != nil {
					t.Error(err)
					return
				}
				l.acked[n].Store(seq)
			}
		})
	}
	t.Cleanup(l.Stop)
	return l
}

// Stop stops appending and waits until it has ended. It may be called twice.
func (l *Load) Stop() {
	l.end()
	l.wg.Wait()
}

// Reach waits until each session has stored this number of frames, and returns how many each has.
func (l *Load) Reach(t *testing.T, frames uint64) (acked []uint64) {
	t.Helper()
	acked = make([]uint64, len(l.acked))
	require.Eventually(t, func() bool {
		for n := range l.acked {
			if acked[n] = l.acked[n].Load(); acked[n] < frames {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
	return acked
}

// Held requires that a store has every record of the acknowledged frames, and none
// twice.
func (l *Load) Held(t *testing.T, s storage.Reader, acked []uint64) {
	t.Helper()
	type identity struct {
		session string
		seq     uint64
		index   int
	}
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	seen := map[identity]int{}
	for _, c := range page.Conferences {
		ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
		require.NoError(t, s.Records(t.Context(), ref, func(session string, r storage.Record) bool {
			seen[identity{session, r.Seq, r.Index}]++
			return true
		}))
	}
	for id, n := range seen {
		if n != 1 {
			require.Fail(t, "more than once", "%v: %d times", id, n)
		}
	}
	for n, last := range acked {
		for seq := uint64(1); seq <= last; seq++ {
			batch := l.frame(n, seq)
			for _, r := range batch.Records {
				if seen[identity{batch.Session.ID, seq, r.Index}] != 1 {
					require.Fail(t, "not there", "session %d, frame %d, record %d", n, seq, r.Index)
				}
			}
		}
	}
}
