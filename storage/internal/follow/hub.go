// Package follow hands commits to those who follow a store. Who commits never waits: what
// a follower has not taken yet is merged by conference, and beyond a bound it becomes one
// word, that there is something to read anew.
package follow

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/qosrtc/qos/storage"
)

// MaxWaiting is how many conferences may wait for one follower; one more makes them all a
// CatchUp. It is some 200 kB.
const MaxWaiting = 1024

// Hub knows the followers of one store. Its methods are safe for concurrent use.
type Hub struct {
	limit     int // of waiting conferences
	overflows atomic.Int64

	mu        sync.Mutex // held for microseconds, never while a follower is called
	followers map[*follower]struct{}
	closed    error
	done      chan struct{}
}

// follower is one call of Follow. The hub's lock guards it.
type follower struct {
	filter  storage.Filter
	catchUp bool // stands for all changes so far
	waiting Changes
	wake    chan struct{} // of one place: there is something to take
}

// NewHub returns a hub without followers. Close ends it.
func NewHub() *Hub {
	return &Hub{limit: MaxWaiting, followers: map[*follower]struct{}{}, done: make(chan struct{})}
}

// Publish notifies the followers of committed changes. It does not wait for them.
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

// Gap makes every follower read anew: commits may have gone by unseen.
func (h *Hub) Gap() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.followers {
		f.startOver()
	}
}

// Close ends all followers, present and future, with an error. A second call is ignored.
func (h *Hub) Close(because error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed == nil {
		h.closed = because
		close(h.done)
	}
}

// Overflows returns how often a follower was so slow that what waited for it became a
// CatchUp.
func (h *Hub) Overflows() int64 { return h.overflows.Load() }

// Followers returns how many there are now.
func (h *Hub) Followers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.followers)
}

// Follow does what storage.Follower asks. It runs yield in the caller's goroutine.
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

// next takes what waits for f, or says why there will be no more.
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

// newFollower returns one whose first word is a CatchUp.
func newFollower(filter storage.Filter) *follower {
	f := &follower{filter: filter, wake: make(chan struct{}, 1)}
	f.startOver()
	return f
}

func (f *follower) wants(c *storage.Change) bool {
	return (f.filter.AppID == "" || f.filter.AppID == c.AppID) &&
		(f.filter.ConferenceID == "" || f.filter.ConferenceID == c.ConferenceID)
}

// add lets a change wait and reports whether it was one too many. A CatchUp that waits
// stands for it already: who takes it reads after this commit.
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
	default: // notified already
	}
}
