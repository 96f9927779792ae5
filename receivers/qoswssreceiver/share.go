package qoswssreceiver

import (
	"context"
	"slices"
	"sync"

	"github.com/qosrtc/qos/internal/serve/throttle"
)

// shares limits the messages of each user in the pipeline to one full batch: frames of other users wait for no more,
// however many connections a user has. Calls of one user enter in the order of arrival. Safe for concurrent use.
type shares struct {
	mu    sync.Mutex
	users map[throttle.Key]*share // those with calls in the pipeline
}

// share is the state of one user, in messages (weight).
type share struct {
	used  int
	queue []*waiter
}

// waiter is a call that waits for room.
type waiter struct {
	messages int
	ready    chan struct{} // closed when the call has entered
}

// enter waits until a call of so many messages has room, and returns the function that frees the room. A call larger
// than a full batch enters alone. When ctx ends first, the call enters without room.
func (s *shares) enter(ctx context.Context, user throttle.Key, messages int) (leave func()) {
	messages = min(messages, maxBatchMessages)
	if call := s.enqueue(user, messages); call != nil {
		select {
		case <-call.ready:
		case <-ctx.Done():
			if s.cancel(user, call) {
				return func() {}
			}
		}
	}
	return func() { s.leave(user, messages) }
}

// enqueue lets a call enter and returns nil, or returns the queued call.
func (s *shares) enqueue(user throttle.Key, messages int) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = make(map[throttle.Key]*share)
	}
	state := s.users[user]
	if state == nil {
		state = &share{}
		s.users[user] = state
	}
	if len(state.queue) == 0 && state.hasRoom(messages) {
		state.used += messages
		return nil
	}
	call := &waiter{messages, make(chan struct{})}
	state.queue = append(state.queue, call)
	return call
}

func (s *share) hasRoom(messages int) bool { return s.used+messages <= maxBatchMessages }

// admit lets calls enter while the first one has room.
func (s *share) admit() {
	for len(s.queue) > 0 && s.hasRoom(s.queue[0].messages) {
		s.used += s.queue[0].messages
		close(s.queue[0].ready)
		s.queue = s.queue[1:]
	}
}

func (s *shares) leave(user throttle.Key, messages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.users[user]
	state.used -= messages
	s.settle(user, state)
}

// cancel removes a call that still waits, and reports whether it did.
func (s *shares) cancel(user throttle.Key, call *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.users[user]
	if state == nil {
		return false
	}
	i := slices.Index(state.queue, call)
	if i < 0 {
		return false
	}
	state.queue = slices.Delete(state.queue, i, i+1)
	s.settle(user, state)
	return true
}

// settle lets waiting calls enter, and removes a user without calls.
func (s *shares) settle(user throttle.Key, state *share) {
	if state.admit(); state.used == 0 {
		delete(s.users, user)
	}
}
