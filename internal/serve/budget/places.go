package budget

import "sync"

// Places is a fair limit of what holders take. Each holder may have three times as many as are free: at most three
// quarters of them, so that another holder always finds some. Safe for concurrent use.
type Places[K comparable] struct {
	most  int
	mu    sync.Mutex
	total int
	taken map[K]int
}

// NewPlaces returns a limit of most for all holders together.
func NewPlaces[K comparable](most int) *Places[K] {
	return &Places[K]{most: most, taken: make(map[K]int)}
}

// Take reports whether a holder gets one more, which it has to Leave. The zero value is for all unknown holders: it
// has no share, since it may be many.
func (p *Places[K]) Take(holder K) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var unknown K
	if p.total >= p.most || holder != unknown && !IsWithinShare(int64(p.taken[holder]+1), int64(p.most-p.total)) {
		return false
	}
	p.total++
	p.taken[holder]++
	return true
}

// Leave ends one Take of a holder.
func (p *Places[K]) Leave(holder K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.taken[holder]--; p.taken[holder] == 0 {
		delete(p.taken, holder)
	}
}

// Taken returns the number taken by all holders, and the number of holders.
func (p *Places[K]) Taken() (all, holders int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total, len(p.taken)
}
