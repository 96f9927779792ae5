// Package follow distributes commits to the followers of a store. A commit never waits for a
// follower: pending changes of a follower are merged by conference, and beyond a limit a single
// CatchUp replaces them.
package follow

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/qosrtc/qos/storage"
)

// MaxWaiting is the maximum number of conferences with pending changes of one follower, some 200 kB. When it is
// exceeded, a CatchUp replaces them all.
const MaxWaiting = 1024

// Hub holds the followers of one store. Its methods are safe for concurrent use.
type Hub struct {
	limit     int // MaxWaiting
	overflows atomic.Int64

	mu        sync.Mutex // held for microseconds, never while a follower is called
	followers map[*follower]struct{}
	closed    error
	done      chan struct{}
}

// follower is one call of Follow. The hub's lock guards it.
type follower struct {
	filter  storage.Filter
	catchUp bool // replaces all changes so far
	waiting Changes
	wake    chan struct{} // capacity 1: a change is pending
}

// NewHub returns a hub without followers. Close ends it.
func NewHub() *Hub {
	return &Hub{limit: MaxWaiting, followers: map[*follower]struct{}{}, done: make(chan struct{})}
}

// Publish adds committed changes to the followers that want them. It does not wait for them.
func (h *Hub) Publish(changes []storage.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.followers {
		for i := range changes {
			if f.wants(&changes[i]) && f.add(&changes[i], h.limit) {
				h.overflows.Add(1)
			}
		}
	}
}

// Gap sends a CatchUp to every follower, after commits may have been missed.
func (h *Hub) Gap() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.followers {
		f.startOver()
	}
}

// Close ends all followers, also later ones, with an error. A second call is ignored.
func (h *Hub) Close(because error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed == nil {
		h.closed = because
		close(h.done)
	}
}

// Overflows returns the number of times that a CatchUp replaced the pending changes of a slow
// follower.
func (h *Hub) Overflows() int64 { return h.overflows.Load() }

// Followers returns the current number of followers.
func (h *Hub) Followers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.followers)
}

// Follow implements storage.Follower. It calls yield in the caller's goroutine.
func (h *Hub) Follow(ctx context.Context, filter storage.Filter, yield func(storage.Change) bool) error {
	f := newFollower(filter)
	h.mu.Lock()
	h.followers[f] = struct{}{}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.followers, f)
		h.mu.Unlock()
	}()
	for {
		c, ok, err := h.next(ctx, f)
		switch {
		case err != nil:
			return err
		case ok && !yield(c):
			return nil
		case ok:
			continue
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
		case <-h.done:
		}
	}
}

// next returns the next pending change of f, or the error that ends it.
func (h *Hub) next(ctx context.Context, f *follower) (c storage.Change, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return c, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed != nil {
		return c, false, h.closed
	}
	if f.catchUp {
		f.catchUp = false
		return storage.Change{CatchUp: true}, true, nil
	}
	c, ok = f.waiting.pop()
	return c, ok, nil
}

// newFollower returns a follower whose first change is a CatchUp.
func newFollower(filter storage.Filter) *follower {
	f := &follower{filter: filter, wake: make(chan struct{}, 1)}
	f.startOver()
	return f
}

func (f *follower) wants(c *storage.Change) bool {
	return (f.filter.AppID == "" || f.filter.AppID == c.AppID) &&
		(f.filter.ConferenceID == "" || f.filter.ConferenceID == c.ConferenceID)
}

// add adds a pending change and reports whether the limit was exceeded. A pending CatchUp includes
// the change: the follower reads the store after this commit.
func (f *follower) add(c *storage.Change, limit int) (overflow bool) {
	if f.catchUp {
		return false
	}
	if !f.waiting.add(c, limit) {
		f.startOver()
		return true
	}
	f.notify()
	return false
}

func (f *follower) startOver() {
	f.waiting, f.catchUp = Changes{}, true
	f.notify()
}

func (f *follower) notify() {
	select {
	case f.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}
