package webhookexporter

import (
	"sync"
	"time"
)

const (
	// maxSending bounds concurrent attempts to fast URLs, and those to slow ones, beside the first of each app.
	maxSending = 256
	// patience is the duration of an attempt after which its URL is slow.
	patience = time.Second
	// maxSlow bounds the URLs that are recorded as slow. A further one replaces another.
	maxSlow = 10_000
)

// target is a URL of an app. At most one attempt to it is under way.
type target struct{ app, url string }

// slots limits concurrent attempts. A URL is slow from when an attempt has lasted for patience until an attempt ends
// sooner. Fast and slow URLs have separate slots, and each app has one of each that no other app takes: a dead URL
// delays no other app, and no fast URL after the first attempt. Safe for concurrent use.
type slots struct {
	mu       sync.Mutex
	attempts map[target]*attemptState
	slow     map[target]time.Time // end of the last attempt
	pools    [2]pool              // of fast and of slow URLs
}

// attemptState is an attempt: its pool, and whether it has lasted for patience.
type attemptState struct {
	pool  int
	lasts bool
}

// pool counts the attempts under way.
type pool struct {
	all  int
	apps map[string]int
}

const (
	fastPool = 0
	slowPool = 1
)

func newSlots() *slots {
	return &slots{
		attempts: map[target]*attemptState{}, slow: map[target]time.Time{}, pools: [2]pool{{apps: map[string]int{}}, {apps: map[string]int{}}},
	}
}

// begin takes a slot for an attempt and reports whether it may begin: no other one is under way to the target.
func (s *slots) begin(t target) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := fastPool
	if _, is := s.slow[t]; is {
		at = slowPool
	}
	if s.attempts[t] != nil || s.pools[at].all >= maxSending && s.pools[at].apps[t.app] > 0 {
		return false
	}
	s.attempts[t] = &attemptState{pool: at}
	s.pools[at].add(t.app, 1)
	return true
}

// markSlow moves an attempt that has lasted for patience to the slots of slow URLs, even beyond their number.
func (s *slots) markSlow(t target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.attempts[t]; a != nil {
		s.pools[a.pool].add(t.app, -1)
		a.pool, a.lasts = slowPool, true
		s.pools[slowPool].add(t.app, 1)
	}
}

// end frees the slot of an attempt.
func (s *slots) end(t target, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[t]
	if a == nil {
		return
	}
	delete(s.attempts, t)
	s.pools[a.pool].add(t.app, -1)
	delete(s.slow, t)
	if !a.lasts {
		return
	}
	for other := range s.slow {
		if len(s.slow) < maxSlow {
			break
		}
		delete(s.slow, other)
	}
	s.slow[t] = now
}

// slowSince returns the end of the last attempt of a slow URL; the zero time for a fast one.
func (s *slots) slowSince(t target) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slow[t]
}

func (p *pool) add(app string, n int) {
	p.all += n
	if p.apps[app] += n; p.apps[app] == 0 {
		delete(p.apps, app)
	}
}
