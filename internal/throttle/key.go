package throttle

import (
	"hash/maphash"
	"net/netip"
)

// Key names a bucket or a class.
type Key uint64

// Hash makes keys. Each one made by NewHash gives others.
type Hash struct{ seed maphash.Seed }

// NewHash returns a hash with a key of its own.
func NewHash() Hash { return Hash{maphash.MakeSeed()} }

// claim is what a key stands for.
type claim struct {
	app, user string
	network   Key
}

// Of returns the key of an application, a user and a network of addresses; what does not
// matter is left at its zero value.
func (h Hash) Of(app, user string, network Key) Key {
	return Key(maphash.Comparable(h.seed, claim{app, user, network}))
}

// network is a network of addresses as bytes, so that hashing it allocates nothing.
type network struct {
	address [16]byte
	bits    int
}

// Network returns the key of a network of addresses, never 0; 0 where there is none.
func (h Hash) Network(p netip.Prefix) Key {
	if !p.IsValid() {
		return 0
	}
	return max(1, Key(maphash.Comparable(h.seed, network{p.Addr().As16(), p.Bits()})))
}
