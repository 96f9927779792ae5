package relay

import "sync"

// maxSeen bounds the requests that are remembered; the oldest makes room.
const maxSeen = 1 << 16

// replays remembers the requests that made allocations, by their integrity. A request that was read on the
// network and is sent again from another address has the same, and a nonce that is valid for an hour.
type replays struct {
	mu   sync.Mutex
	seen map[[integrityBytes]byte]struct{}
	ring [][integrityBytes]byte
	next int
}

func newReplays() *replays { return &replays{seen: map[[integrityBytes]byte]struct{}{}} }

// has reports whether a request made an allocation before.
func (r *replays) has(integrity [integrityBytes]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.seen[integrity]
	return ok
}

// add remembers a request.
func (r *replays) add(integrity [integrityBytes]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < maxSeen {
		r.ring = append(r.ring, integrity)
	} else {
		delete(r.seen, r.ring[r.next])
		r.ring[r.next] = integrity
		r.next = (r.next + 1) % maxSeen
	}
	r.seen[integrity] = struct{}{}
}
