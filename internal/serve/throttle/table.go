package throttle

import "time"

// A table of at least minSharded buckets has 1<<shardBits shards, so that cores seldom wait for each
// other; a smaller one has one shard, so that its number of buckets is exact.
const (
	shardBits  = 4
	minSharded = 64 << shardBits
)

// Table holds the buckets of one kind. Safe for concurrent use.
type Table struct {
	start  time.Time
	mask   Key
	shards []shard
}

// Evictions counts evicted buckets.
type Evictions struct {
	Full   int64 // without debt: nothing is lost
	InDebt int64 // at the limit: their clients may be admitted too early
}

// NewTable returns a table of at most capacity buckets. start must not be after the first decision.
func NewTable(capacity int, start time.Time) *Table {
	n := 1
	if capacity >= minSharded {
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

// Take takes a token and returns 0, or returns the wait until there is one.
func (t *Table) Take(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	position := s.put(key, at)
	if wait := s.heap[position].promise(r, at); wait > 0 {
		return wait
	}
	s.heap[position].full += int64(r.Interval)
	s.down(position)
	return 0
}

// Check is Take without taking the token: the caller may charge an admitted client later.
func (t *Table) Check(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	position := s.get(key)
	if position < 0 || s.heap[position].full <= at {
		return 0
	}
	return s.heap[position].promise(r, at)
}

// Wait returns the time until there is a token, 0 if there is one. It promises the token to no
// client: only for callers that no other caller can overtake.
func (t *Table) Wait(key Key, r Rate, now time.Time) time.Duration {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	position := s.get(key)
	if position < 0 {
		return 0
	}
	return time.Duration(max(0, s.heap[position].full+int64(r.Interval)-r.span()-at))
}

// Charge takes a token even if there is none. The debt is at most twice the size of the bucket:
// all clients pay that Check admitted at once.
func (t *Table) Charge(key Key, r Rate, now time.Time) { t.ChargeMany(key, r, 1, now) }

// ChargeMany charges n tokens at once.
func (t *Table) ChargeMany(key Key, r Rate, n int, now time.Time) {
	at := int64(now.Sub(t.start))
	s := t.lock(key)
	defer s.mu.Unlock()
	position := s.put(key, at)
	b := &s.heap[position]
	b.full = max(b.full, min(b.full+int64(min(n, 2*r.Burst))*int64(r.Interval), at+2*r.span()))
	s.down(position)
}

// GiveBack returns a token that Take took at the same rate.
func (t *Table) GiveBack(key Key, r Rate) {
	s := t.lock(key)
	defer s.mu.Unlock()
	if position := s.get(key); position >= 0 {
		s.heap[position].full -= int64(r.Interval)
		s.up(position)
	}
}

// Tracked returns the number of buckets; some of them may be full again.
func (t *Table) Tracked() (n int64) {
	t.each(func(s *shard) { n += int64(len(s.heap)) })
	return n
}

// Evictions returns the evictions so far.
func (t *Table) Evictions() (sum Evictions) {
	t.each(func(s *shard) {
		sum.Full += s.evictions.Full
		sum.InDebt += s.evictions.InDebt
	})
	return sum
}

func (t *Table) each(visit func(*shard)) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		visit(s)
		s.mu.Unlock()
	}
}

// promise returns 0 if there is a token, otherwise the wait until the first one that no other
// client was promised.
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
