package budget

import "sync"

// Places are so many places, of which each holder may have three times as many as are free. So one holder has at most three
// quarters of them, and another always finds some. Safe for concurrent use.
type Places[K comparable] struct {
	most int
	mu   sync.Mutex
	all  int
	of   map[K]int
}

// NewPlaces returns so many places.
func NewPlaces[K comparable](most int) *Places[K] { return &Places[K]{most: most, of: make(map[K]int)} }

// Take reports whether there is a place for a holder, who has to Leave it. A holder that is the zero value is not known: all
// may be one, and have no share.
func (p *Places[K]) Take(holder K) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var unknown K
	if p.all >= p.most || holder != unknown && !IsWithinShare(int64(p.of[holder]+1), int64(p.most-p.all)) {
		return false
	}
	p.all++
	p.of[holder]++
	return true
}

// Leave gives back a place.
func (p *Places[K]) Leave(holder K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[holder]--; p.of[holder] == 0 {
		delete(p.of, holder)
	}
}

// Taken returns how many places are taken, and by how many holders.
func (p *Places[K]) Taken() (all, holders int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all, len(p.of)
}
