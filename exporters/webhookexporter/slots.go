package webhookexporter

import (
	"sync"
	"time"
)

const (
	// maxSending bounds the attempts of fast URLs at once, and those of slow ones, beside the first of each app.
	maxSending = 256
	// patience is how long an attempt may take until its URL is slow.
	patience = time.Second
	// maxSlow bounds the URLs that are known to be slow. One more takes the place of another.
	maxSlow = 10_000
)

// target is a URL of an app, to which one attempt at a time is under way.
type target struct{ app, url string }

// slots decides which attempts begin. A URL is slow from when an attempt has lasted for patience until an attempt ends
// sooner. Fast and slow URLs have slots of their own, and each app has one of each that no other app takes: a dead URL
// delays no other app, and no fast URL from the second attempt on. It is safe for concurrent use.
type slots struct {
	mu    sync.Mutex
	under map[target]*underWay
	slow  map[target]time.Time // when the last attempt ended
	pools [2]pool              // of fast and of slow URLs
}

// underWay is an attempt: the pool that it is in, and whether it lasts longer than patience.
type underWay struct {
	pool  int
	lasts bool
}

// pool counts attempts under way.
type pool struct {
	all  int
	apps map[string]int
}

const (
	fast = 0
	slow = 1
)

func newSlots() *slots {
	return &slots{
		under: map[target]*underWay{}, slow: map[target]time.Time{}, pools: [2]pool{{apps: map[string]int{}}, {apps: map[string]int{}}},
	}
}

// begin takes a slot for an attempt, unless one is under way or there is none.
func (s *slots) begin(t target) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := fast
	if _, is := s.slow[t]; is {
		at = slow
	}
	if s.under[t] != nil || s.pools[at].all >= maxSending && s.pools[at].apps[t.app] > 0 {
		return false
	}
	s.under[t] = &underWay{pool: at}
	s.pools[at].add(t.app, 1)
	return true
}

// last moves an attempt that has lasted for patience to the slots of slow URLs, although there may be none.
func (s *slots) last(t target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.under[t]; a != nil {
		s.pools[a.pool].add(t.app, -1)
		a.pool, a.lasts = slow, true
		s.pools[slow].add(t.app, 1)
	}
}

// end gives back the slot of an attempt.
func (s *slots) end(t target, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.under[t]
	if a == nil {
		return
	}
	delete(s.under, t)
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

// since returns when the last attempt of a slow URL ended; the zero time for a fast one.
func (s *slots) since(t target) time.Time {
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
