package hours

import (
	"context"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
)

// use notes a request, and waits until commits are followed, or a second.
func (h *Hours) use(ctx context.Context) {
	timer := time.NewTimer(followWait)
	defer timer.Stop()
	select {
	case <-h.follow():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// follow begins to follow commits unless that is done. The channel that it returns is closed when it has begun.
func (h *Hours) follow() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.idle.Reset(maxIdle)
		return h.tail
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.idle = time.AfterFunc(maxIdle, cancel)
	tail := make(chan struct{})
	h.stop, h.tail = cancel, tail
	began := sync.OnceFunc(func() { close(tail) })
	h.wg.Go(func() {
		defer began()
		// Whatever ends it: nothing is kept without it.
		_ = h.follower.Follow(ctx, storage.Filter{}, func(c storage.Change) bool {
			defer began()
			h.change(c)
			return true
		})
		h.mu.Lock()
		defer h.mu.Unlock()
		h.idle.Stop()
		cancel()
		h.kept.follows, h.stop = false, nil
		h.kept.clear()
	})
	return tail
}

// change removes the hours that a commit changed.
func (h *Hours) change(c storage.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept.follows = true // the first call is a catch-up
	h.kept.change(&c)
}
