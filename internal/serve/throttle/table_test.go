package throttle

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var start = time.Unix(1_763_702_160, 0)

// spread makes keys that fall into all shards, as those of a Hash do.
func spread(n int) Key { return Key(uint64(n+1) * 0x9E3779B97F4A7C15) }

func mixed(n int) Key { k := uint64(spread(n)); return Key(k ^ k>>29) }

// drain takes all that a bucket has.
func drain(t *Table, key Key, r Rate, now time.Time) {
	for t.Take(key, r, now) == 0 { // each turn takes one
	}
}

func TestBurstThenRate(t *testing.T) {
	table, r := NewTable(8, start), PerSecond(2, 3)
	require.Equal(t, Rate{Interval: 500 * time.Millisecond, Burst: 3}, r)
	for range 3 {
		require.Zero(t, table.Take(1, r, start))
	}
	require.Equal(t, 500*time.Millisecond, table.Take(1, r, start))
	require.Zero(t, table.Take(2, r, start), "another key has a bucket of its own")
	require.Zero(t, table.Take(1, r, start.Add(500*time.Millisecond)))
	require.NotZero(t, table.Take(1, r, start.Add(500*time.Millisecond)))
	for range 3 {
		require.Zero(t, table.Take(1, r, start.Add(time.Hour)), "no more than burst is saved")
	}
	require.NotZero(t, table.Take(1, r, start.Add(time.Hour)))
}

func TestRateIsBounded(t *testing.T) {
	for _, r := range []Rate{PerSecond(0, 0), PerSecond(1e-300, 1<<62), PerSecond(1e300, -5)} {
		table := NewTable(1, start)
		drain(table, 1, Rate{r.Interval, MinBurst}, start)
		require.Positive(t, r.Interval)
		require.Positive(t, r.span(), "the longest span fits into ns")
		table.Charge(1, r, start.Add(100*365*24*time.Hour))
		require.Positive(t, table.shards[0].heap[0].full)
	}
}

// A client that waits as long as it was asked to is let in, however many were refused together, and
// though each comes up to one interval late.
//
// spec: SRV-04
func TestWaitsAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := PerSecond(rapid.Float64Range(0.5, 100).Draw(t, "rate"), rapid.IntRange(MinBurst, 20).Draw(t, "burst"))
		table := NewTable(4, start)
		drain(table, 1, r, start)
		now := start
		var due []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "refused") { // all before the first token is there
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(r.Interval)/128).Draw(t, "gap")))
			if wait := table.Take(1, r, now); wait > 0 && wait < MaxWait {
				late := time.Duration(rapid.Int64Range(0, int64(r.Interval)).Draw(t, "late"))
				due = append(due, now.Add(wait+late))
			}
		}
		sortTimes(due)
		for _, at := range due {
			if wait := table.Take(1, r, at); wait != 0 {
				t.Fatalf("asked to come at %v and refused for %v", at.Sub(start), wait)
			}
		}
	})
}

func TestWaitsEndSomewhere(t *testing.T) {
	table, r := NewTable(4, start), PerSecond(1, 2)
	drain(table, 1, r, start)
	var longest time.Duration
	for range 1000 {
		longest = max(longest, table.Take(1, r, start))
	}
	require.Equal(t, MaxWait, longest)
	require.Zero(t, table.Take(1, r, start.Add(MaxWait)))
}

func TestCheckTakesNothing(t *testing.T) {
	table, r := NewTable(4, start), PerSecond(1, 2)
	for range 10 {
		require.Zero(t, table.Check(1, r, start))
	}
	require.Zero(t, table.Tracked(), "and needs no memory")
	table.Charge(1, r, start)
	require.Zero(t, table.Check(1, r, start))
	table.Charge(1, r, start)
	require.Equal(t, time.Second, table.Check(1, r, start))
	require.Equal(t, 2*time.Second, table.Check(1, r, start), "the next one gets the time of the next token")
	for range 100 {
		table.Charge(1, r, start) // let in together, all pay
	}
	require.NotZero(t, table.Check(1, r, start.Add(2*time.Second)))
	require.Zero(t, table.Check(1, r, start.Add(4*time.Second)), "but not for ever")
}

func TestGiveBack(t *testing.T) {
	table, r := NewTable(4, start), PerSecond(1, 2)
	for range 10 {
		require.Zero(t, table.Take(1, r, start))
		table.GiveBack(1, r)
	}
	table.GiveBack(2, r) // an evicted one
	drain(table, 1, r, start)
	table.GiveBack(1, r)
	require.Zero(t, table.Take(1, r, start))
	require.NotZero(t, table.Take(1, r, start))
}

// model is a table with all the memory in the world. It pays for all that was let in.
type model map[Key]time.Time // when the bucket is full again

func (m model) full(key Key, now time.Time) time.Time {
	if m[key].After(now) {
		return m[key]
	}
	return now
}

func (m model) hasToken(key Key, r Rate, now time.Time) bool {
	return m.full(key, now).Add(r.Interval).Sub(now) <= time.Duration(r.span())
}

func (m model) pay(key Key, r Rate, now time.Time) { m[key] = m.full(key, now).Add(r.Interval) }

// sound checks what must hold of a shard at all times.
func sound(t *rapid.T, s *shard) {
	if len(s.heap) > s.limit {
		t.Fatalf("%d buckets, at most %d are allowed", len(s.heap), s.limit)
	}
	for place, b := range s.heap {
		if place > 0 && s.heap[(place-1)/2].full > b.full {
			t.Fatal("the heap is out of order")
		}
		if s.get(b.key) != place {
			t.Fatalf("key %x is not found", b.key)
		}
	}
	used := 0
	for _, place := range s.index.slots {
		if place != 0 {
			used++
		}
	}
	if used != len(s.heap) {
		t.Fatalf("%d places in the index for %d buckets", used, len(s.heap))
	}
}

// Whatever keys come: memory is bounded, nobody is refused whom unbounded memory would
// let in, and only the bucket with the least debt is ever forgotten.
//
// spec: SRV-04
func TestTableAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 24).Draw(t, "capacity")
		keys := rapid.IntRange(1, 60).Draw(t, "keys")
		r := PerSecond(rapid.Float64Range(0.5, 50).Draw(t, "rate"), rapid.IntRange(MinBurst, 6).Draw(t, "burst"))
		table, ideal, now := NewTable(capacity, start), model{}, start
		s := &table.shards[0]
		for range rapid.IntRange(1, 300).Draw(t, "takes") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(r.Interval)).Draw(t, "gap")))
			key := spread(rapid.IntRange(0, keys-1).Draw(t, "key"))
			before := append([]bucket(nil), s.heap...)
			let, should := table.Take(key, r, now) == 0, ideal.hasToken(key, r, now)
			if let {
				ideal.pay(key, r, now)
			}
			sound(t, s)
			leastIsForgotten(t, s, before, key, int64(now.Sub(start)))
			if should && !let {
				t.Fatal("refused whom unbounded memory lets in")
			}
			if let && !should && table.Evictions().InDebt == 0 {
				t.Fatal("let in too early though nothing was forgotten")
			}
		}
	})
}

// leastIsForgotten: what left a shard was full, or in less debt than all that stayed.
func leastIsForgotten(t *rapid.T, s *shard, before []bucket, taken Key, at int64) {
	for _, gone := range before {
		if s.get(gone.key) >= 0 || gone.full <= at {
			continue
		}
		for _, b := range s.heap {
			if b.key != taken && b.full < gone.full {
				t.Fatalf("a bucket that is full at %d was forgotten before one at %d", gone.full, b.full)
			}
		}
	}
}

// To have its own drained bucket forgotten an attacker must drain as many others as the
// table has room for.
func TestResetIsNotCheap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, r := rapid.IntRange(2, 20).Draw(t, "capacity"), PerSecond(0.01, rapid.IntRange(MinBurst, 8).Draw(t, "burst"))
		table := NewTable(capacity, start)
		drain(table, spread(0), r, start)
		spent := 0
		for range rapid.IntRange(0, 2*capacity*r.Burst).Draw(t, "attempts") {
			if table.Take(spread(rapid.IntRange(1, 3*capacity).Draw(t, "key")), r, start) == 0 {
				spent++
			}
			if table.shards[0].get(spread(0)) < 0 {
				if least := (capacity - 1) * r.Burst; spent < least {
					t.Fatalf("forgotten for %d tokens of other keys, at least %d are needed", spent, least)
				}
				return
			}
		}
	})
}

// The same of a table with shards, whose keys an attacker cannot choose.
func TestResetIsNotCheapInShards(t *testing.T) {
	const capacity = 4096
	table, r := NewTable(capacity, start), PerSecond(0.01, 5)
	require.Greater(t, len(table.shards), 1)
	drain(table, mixed(0), r, start)
	for n := range capacity / 2 {
		drain(table, mixed(n+1), r, start)
	}
	for n := range 20 * capacity { // one request each of a botnet's addresses
		table.Take(mixed(n+capacity), r, start)
	}
	require.LessOrEqual(t, table.Tracked(), int64(capacity))
	require.NotZero(t, table.Take(mixed(0), r, start), "the drained bucket is remembered")
	require.NotZero(t, table.Evictions().InDebt)
	for n := range capacity {
		require.Zero(t, table.Take(mixed(n+30*capacity), r, start), "and nobody is locked out")
	}
}

// Buckets that are full again make room before all others.
func TestFullBucketsGoFirst(t *testing.T) {
	table, r := NewTable(minSharded, start), PerSecond(1, 4)
	drain(table, mixed(0), r, start.Add(time.Hour))
	for n := range 10 * minSharded {
		now := start.Add(time.Hour).Add(time.Duration(n) * 2 * r.Interval) // full again when the next comes
		if n == 1 {
			require.NotZero(t, table.Check(mixed(0), r, start.Add(time.Hour)))
		}
		require.Zero(t, table.Take(mixed(n+1), r, now))
	}
	require.Zero(t, table.Evictions().InDebt)
	require.NotZero(t, table.Evictions().Full)
	require.LessOrEqual(t, table.Tracked(), int64(2<<shardBits), "what is full does not stay")
}

// However many ask at once, no token is taken twice.
func TestTableIsSafeForConcurrentUse(t *testing.T) {
	table, r := NewTable(minSharded, start), PerSecond(MinPerSecond, 100)
	var in atomic.Int64
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 500 {
				if table.Take(7, r, start) == 0 {
					in.Add(1)
				}
				table.Take(mixed(i*8+n), r, start)
				table.Check(mixed(i), r, start)
				table.Tracked()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 100, in.Load())
}

// A decision allocates nothing, whether the key is known or makes another one leave.
func TestDecisionsAllocateNothing(t *testing.T) {
	table, r, hash := NewTable(minSharded, start), PerSecond(1, 3), NewHash()
	network := netip.MustParsePrefix("2001:db8::/64")
	n := 0
	f := func(what string, decide func()) {
		t.Helper()
		for range 4 * minSharded {
			decide() // until the table has its size
		}
		require.Zero(t, testing.AllocsPerRun(1000, decide), what)
	}
	f("key", func() { hash.Of("app", "user", hash.Network(network)) })
	f("known key", func() { table.Take(1, r, start) })
	f("new keys", func() { n++; table.Take(mixed(n), r, start) })
	f("new keys, full buckets", func() { n++; table.Take(mixed(n), r, start.Add(time.Duration(n)*time.Minute)) })
	f("check", func() { table.Check(1, r, start) })
	f("charge", func() { n++; table.Charge(mixed(n), r, start); table.GiveBack(mixed(n), r) })
}

func TestKeysDiffer(t *testing.T) {
	hash := NewHash()
	require.Zero(t, hash.Network(netip.Prefix{}))
	four, six := hash.Network(netip.MustParsePrefix("192.0.2.1/32")), hash.Network(netip.MustParsePrefix("2001:db8::/64"))
	seen := map[Key]bool{}
	for _, key := range []Key{
		four, six, hash.Network(netip.MustParsePrefix("::/64")), hash.Network(netip.MustParsePrefix("0.0.0.0/32")),
		hash.Of("", "", 0), hash.Of("a", "b", 0), hash.Of("ab", "", 0), hash.Of("", "ab", 0),
		hash.Of("", "", four), hash.Of("", "", six), hash.Of("a", "", six), hash.Of("", "a", six),
	} {
		require.False(t, seen[key])
		require.NotZero(t, key)
		seen[key] = true
	}
	again := hash.Of("a", "b", six)
	require.Equal(t, again, hash.Of("a", "b", six))
	require.NotEqual(t, again, NewHash().Of("a", "b", six), "another process has other keys")
}

func BenchmarkTake(b *testing.B) {
	hash, r := NewHash(), PerSecond(20, 2000)
	network := netip.MustParsePrefix("192.0.2.1/32")
	b.Run("known", func(b *testing.B) {
		table := NewTable(65_536, start)
		b.ReportAllocs()
		for b.Loop() {
			table.Take(hash.Of("app", "user", hash.Network(network)), r, start)
		}
	})
	b.Run("new, table full of debt", func(b *testing.B) {
		table, n := NewTable(65_536, start), 0
		for n < 65_536*2 {
			n++
			drain(table, mixed(n), Rate{r.Interval, 4}, start)
		}
		b.ReportAllocs()
		for b.Loop() {
			n++
			table.Take(mixed(n), r, start)
		}
	})
}
