package qoswssreceiver

import (
	"context"
	"slices"
	"sync"

	"github.com/qosrtc/qos/internal/throttle"
)

// shares bounds what each user has in the pipeline at once to one full batch: frames of other users wait for no more,
// however many connections a user has. Calls of one user enter in the order of their arrival. Safe for concurrent use.
type shares struct {
	mu    sync.Mutex
	users map[throttle.Key]*share // those that have calls in the pipeline
}

// share is what one user has in the pipeline, in messages (weight).
type share struct {
	used  int
	queue []*entrant
}

// entrant is a call that waits for room.
type entrant struct {
	messages int
	ready    chan struct{} // closed when the call has entered
}

// enter waits until a call of so many messages has room, and returns what gives the room back. A larger call than a full
// batch enters alone. When ctx ends first the call enters without room.
func (s *shares) enter(ctx context.Context, user throttle.Key, messages int) (leave func()) {
	messages = min(messages, maxBatchMessages)
	if call := s.queue(user, messages); call != nil {
		select {
		case <-call.ready:
		case <-ctx.Done():
			if s.giveUp(user, call) {
				return func() {}
			}
		}
	}
	return func() { s.leave(user, messages) }
}

// queue lets a call enter, or returns what it waits for.
func (s *shares) queue(user throttle.Key, messages int) *entrant {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = make(map[throttle.Key]*share)
	}
	of := s.users[user]
	if of == nil {
		of = &share{}
		s.users[user] = of
	}
	if len(of.queue) == 0 && of.hasRoom(messages) {
		of.used += messages
		return nil
	}
	call := &entrant{messages, make(chan struct{})}
	of.queue = append(of.queue, call)
	return call
}

func (s *share) hasRoom(messages int) bool { return s.used+messages <= maxBatchMessages }

// admit lets calls enter as long as the first one has room.
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
	of := s.users[user]
	of.used -= messages
	s.settle(user, of)
}

// giveUp reports whether a call was still waiting, and removes it.
func (s *shares) giveUp(user throttle.Key, call *entrant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.users[user]
	if of == nil {
		return false
	}
	i := slices.Index(of.queue, call)
	if i < 0 {
		return false
	}
	of.queue = slices.Delete(of.queue, i, i+1)
	s.settle(user, of)
	return true
}

// settle lets waiting calls enter, and forgets a user without any.
func (s *shares) settle(user throttle.Key, of *share) {
	if of.admit(); of.used == 0 {
		delete(s.users, user)
	}
}
