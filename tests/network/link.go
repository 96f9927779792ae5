package network

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// burstRun is how long a run of losses lasts.
const burstRun = 300 * time.Millisecond

// defaultQueue is how long a packet waits for a link that is full, as in a home router.
const defaultQueue = 300 * time.Millisecond

// Link is one direction of a participant's access to the network. All connections of the participant share it.
type Link struct {
	mu     sync.Mutex
	harm   Harm
	since  time.Time              // of Set
	loses  func(p []byte) bool    // reports whether a packet may be lost by chance
	chance func(p []byte) float64 // of such a packet, which is lost if it is less than the loss
	source *rand.Rand
	free   time.Time // when the link has sent all packets
	last   time.Time // when the newest packet arrives: none overtakes another, except Swapped ones
	queue  chan delivery
	behind chan delivery
}

type delivery struct {
	at time.Time
	do func()
}

// NewLink returns a link without harm. The seed decides which packets are lost. Media packets alone may be lost: packets
// that set a connection up (STUN, DTLS) pass, so that a test of a bad call never becomes one of a failed call.
func NewLink(t *testing.T, seed uint64) *Link {
	t.Helper()
	l := &Link{loses: IsMedia, source: rand.New(rand.NewPCG(seed, 2)), queue: make(chan delivery, 8192), behind: make(chan delivery, 8192)}
	l.chance = func([]byte) float64 { return l.source.Float64() }
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { carry(l.queue, stop) })
	wg.Go(func() { carry(l.behind, stop) })
	t.Cleanup(func() { close(stop); wg.Wait() })
	return l
}

// Set replaces the harm.
func (l *Link) Set(h Harm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harm, l.since = h, time.Now()
}

// Send calls deliver when the packet arrives: later, twice or never.
func (l *Link) Send(p []byte, deliver func()) {
	at, passes := l.arrival(p, time.Now())
	if !passes {
		return
	}
	behind, times := l.mangle(p)
	queue := l.queue
	if behind > 0 {
		queue, at = l.behind, at.Add(behind)
	}
	for range times {
		select {
		case queue <- delivery{at, deliver}:
		default: // full
		}
	}
}

// mangle returns by how much a packet arrives later than its turn, and how often. It may change a bit of it.
func (l *Link) mangle(p []byte) (behind time.Duration, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, times := l.harm, 1
	// A chance of none draws nothing: the others stay those of the seed.
	happens := func(share float64) bool { return share > 0 && l.source.Float64() < share }
	if l.loses(p) && happens(h.Swapped) {
		behind = h.Behind
	}
	if l.loses(p) && happens(h.Corrupt) {
		p[len(p)/2] ^= 1
	}
	if happens(h.Twice) {
		times = 2
	}
	return behind, times
}

func (l *Link) arrival(p []byte, now time.Time) (at time.Time, passes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.harm.now(now).grown(now.Sub(l.since))
	if h.spares(p) {
		h.Loss = 0
	}
	if h.Cut || l.loses(p) && (l.chance(p) < h.Loss || h.Largest > 0 && len(p) > h.Largest) {
		return at, false
	}
	if h.Burst > 0 && l.loses(p) {
		period := time.Duration(float64(burstRun) / h.Burst)
		if time.Duration(now.UnixNano())%period < burstRun {
			return at, false
		}
	}
	at = now
	if h.Stall > 0 {
		if into := time.Duration(now.UnixNano()) % h.Period; into < h.Stall {
			at = at.Add(h.Stall - into)
		}
	}
	if h.RateBps > 0 {
		if l.free.Before(now) {
			l.free = now
		}
		if l.free.Sub(now) > cmp.Or(h.Queue, defaultQueue) {
			return at, false
		}
		l.free = l.free.Add(time.Duration(float64(8*len(p)) / h.RateBps * 1e9))
		at = l.free
	}
	at = at.Add(h.Delay)
	if h.Jitter > 0 {
		at = at.Add(time.Duration(l.source.Int64N(int64(h.Jitter))))
	}
	if at.Before(l.last) {
		at = l.last
	}
	l.last = at
	return at, true
}

func carry(queue chan delivery, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case d := <-queue:
			select {
			case <-time.After(time.Until(d.at)):
				d.do()
			case <-stop:
				return
			}
		}
	}
}
