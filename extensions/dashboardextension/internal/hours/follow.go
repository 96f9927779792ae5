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
	h.used = h.now()
	if h.stop != nil {
		return h.tail
	}
	ctx, cancel := context.WithCancel(context.Background())
	tail := make(chan struct{})
	h.stop, h.tail = cancel, tail
	began := sync.OnceFunc(func() { close(tail) })
	h.wg.Go(func() {
		defer began()
		// Whatever ends it: nothing is kept without it.
		_ = h.follower.Follow(ctx, storage.Filter{}, func(c storage.Change) bool {
			defer began()
			return h.change(c)
		})
		h.mu.Lock()
		defer h.mu.Unlock()
		cancel()
		h.kept.follows, h.stop = false, nil
		h.kept.clear()
	})
	return tail
}

// change removes the hours that a commit changed. It ends the tail after a time without requests.
func (h *Hours) change(c storage.Change) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now().Sub(h.used) > maxIdle {
		return false
	}
	h.kept.follows = true // the first call is a catch-up
	h.kept.change(&c)
	return true
}
