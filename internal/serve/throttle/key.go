package throttle

import (
	"hash/maphash"
	"net/netip"
)

// Key identifies a bucket or a class.
type Key uint64

// Hash computes keys. Two hashes of NewHash return different keys for the same input.
type Hash struct{ seed maphash.Seed }

// NewHash returns a hash with a random seed.
func NewHash() Hash { return Hash{maphash.MakeSeed()} }

// keyInput is the input of a key.
type keyInput struct {
	app, user string
	network   Key
}

// Of returns the key of an application, a user and a network. A part that does not count is left
// at its zero value.
func (h Hash) Of(app, user string, network Key) Key {
	return Key(maphash.Comparable(h.seed, keyInput{app, user, network}))
}

// network is a network in binary form: hashing it allocates nothing.
type network struct {
	address [16]byte
	bits    int
}

// Network returns the key of a network, 0 if it is not valid. The key of a valid one is never 0.
func (h Hash) Network(p netip.Prefix) Key {
	if !p.IsValid() {
		return 0
	}
	return max(1, Key(maphash.Comparable(h.seed, network{p.Addr().As16(), p.Bits()})))
}
