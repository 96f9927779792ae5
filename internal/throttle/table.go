package throttle

import "time"

// A table of at least smallest buckets has 1<<shardBits shards, so that cores seldom wait
// for each other; a smaller one has one, so that its number of buckets is exact.
const (
	shardBits = 4
	smallest  = 64 << shardBits
)

// Table holds the buckets of one kind. Safe for concurrent use.
type Table struct {
	start  time.Time
	mask   Key
	shards []shard
}

// Evictions counts the buckets that were forgotten.
type Evictions struct {
	Full   int64 // without debt: nothing was lost
	InDebt int64 // for want of room: somebody may come sooner than the rate says
}

// NewTable returns a table of at most capacity buckets. start is any time not after the
// first decision.
func NewTable(capacity int, start time.Time) *Table {
	n := 1
	if capacity >= smallest {
		n = 1 << shardBits
	}
	t := &Table{start: start, mask: Key(n - 1), shards: make([]shard, n)}
	for i := range t.shards {
		t.shards[i].init(max(1, capacity/n))
	}
	return t
}

// lock locks the shard of a key.
func (t *Table) lock(key Key) *shard {
	s := &t.shards[key&t.mask]
	s.mu.Lock()
	return s
}

// Take takes a token. 0: it is taken; otherwise how long to wait for one.
func (t *Table) Take(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	place := s.put(key, at)
	if wait := s.heap[place].promise(r, at); wait > 0 {
		return wait
	}
	s.heap[place].full += int64(r.Interval)
	s.down(place)
	return 0
}

// Check is Take without the taking: who is let in may be charged later.
func (t *Table) Check(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	place := s.get(key)
	if place < 0 || s.heap[place].full <= at {
		return 0
	}
	return s.heap[place].promise(r, at)
}

// Wait returns the time until there is a token, and promises it to nobody: the caller whom others cannot overtake
// is let in exactly then. 0: there is one.
func (t *Table) Wait(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	place := s.get(key)
	if place < 0 {
		return 0
	}
	return time.Duration(max(0, s.heap[place].full+int64(r.Interval)-r.span()-at))
}

// Charge takes a token whether or not there is one. The debt is at most twice what a
// bucket saves: many who were let in at once by Check all pay.
func (t *Table) Charge(key Key, r Rate, now time.Time) { t.ChargeMany(key, r, 1, now) }

// ChargeMany charges n tokens at once.
func (t *Table) ChargeMany(key Key, r Rate, n int, now time.Time) {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	place := s.put(key, at)
	b := &s.heap[place]
	b.full = max(b.full, min(b.full+int64(min(n, 2*r.Burst))*int64(r.Interval), at+2*r.span()))
	s.down(place)
}

// GiveBack returns a token that was taken at the same rate.
func (t *Table) GiveBack(key Key, r Rate) {
	s := t.lock(key)
	defer s.mu.Unlock()
	if place := s.get(key); place >= 0 {
		s.heap[place].full -= int64(r.Interval)
		s.up(place)
	}
}

// Tracked is the number of buckets held; some may be full again.
func (t *Table) Tracked() (n int64) {
	t.each(func(s *shard) { n += int64(len(s.heap)) })
	return n
}

// Evictions tells what was forgotten so far.
func (t *Table) Evictions() (sum Evictions) {
	t.each(func(s *shard) {
		sum.Full += s.evictions.Full
		sum.InDebt += s.evictions.InDebt
	})
	return sum
}

func (t *Table) each(look func(*shard)) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		look(s)
		s.mu.Unlock()
	}
}

// promise returns 0 where there is a token, otherwise the wait for the first one that
// nobody was promised before.
func (b *bucket) promise(r Rate, at int64) time.Duration {
	next := b.full + int64(r.Interval) - r.span()
	if next <= at {
		return 0
	}
	next = max(next, b.promised+int64(r.Interval))
	if next > at+int64(MaxWait) {
		return MaxWait
	}
	b.promised = next
	return time.Duration(next - at)
}
