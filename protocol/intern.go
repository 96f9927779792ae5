package protocol

import (
	"hash/maphash"
	"runtime"
	"sync"
	"weak"
)

// columnSets shares equal column sets between all decoders while one of them uses them: most clients announce the same
// few sets.
type columnSets struct {
	seed maphash.Seed

	mu   sync.Mutex
	sets map[uint64]weak.Pointer[Columns]
}

var sharedColumns = columnSets{seed: maphash.MakeSeed(), sets: make(map[uint64]weak.Pointer[Columns])} // shared by all decoders of the process

// intern returns an equal set that a decoder already uses, otherwise c. Sets are immutable.
func (t *columnSets) intern(c *Columns) *Columns {
	hash := t.hash(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.sets[hash].Value(); have != nil {
		if have.Set == c.Set && have.equal(c) {
			return have
		}
		return c // a hash collision: the decoder keeps its own set
	}
	t.sets[hash] = weak.Make(c)
	runtime.AddCleanup(c, t.forget, hash)
	return c
}

// forget removes a set that no decoder uses any more.
func (t *columnSets) forget(hash uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have, ok := t.sets[hash]; ok && have.Value() == nil {
		delete(t.sets, hash)
	}
}

func (t *columnSets) hash(c *Columns) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	_ = h.WriteByte(byte(c.Set))
	write := func(text string) {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0)
	}
	write(c.StatsType)
	write(c.MediaType)
	for _, name := range c.Names {
		write(name)
	}
	return h.Sum64()
}
