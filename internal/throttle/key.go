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

// claim is what a key stands for; the address as bytes, so that hashing allocates nothing.
type claim struct {
	app, user string
	address   [16]byte
	bits      int
}

// Of returns the key of an application, a user and a network of addresses; what does not
// matter is left at its zero value.
func (h Hash) Of(app, user string, network netip.Prefix) Key {
	return Key(maphash.Comparable(h.seed, claim{app, user, network.Addr().As16(), network.Bits()}))
}
