package e2e

import (
	"cmp"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
)

// harm is what a link does to what it carries.
type harm struct {
	loss    float64       // fraction of the media packets
	delay   time.Duration // of every packet
	jitter  time.Duration // up to so much more, in order
	rateBps float64       // 0: no limit
	cut     bool          // nothing passes, media or not
	stall   time.Duration // at the beginning of each period packets wait so long, as in a busy radio network
	period  time.Duration
	burst   float64       // fraction of the time in which all media packets are lost, in runs of burstRun
	grows   time.Duration // in which the harm rises from none, after it was set; 0: at once
	falls   time.Duration // in which loss, jitter and limit fall to none, after they were set; 0: they stay
	ends    time.Duration // after which the harm is over, after it was set; 0: it stays
	queue   time.Duration // how long a packet waits for a full link; 0: maxQueue
	largest int           // media packets of more bytes are lost, as on a path with a smaller MTU; 0: none
	upTo    int           // only media packets of so many bytes are lost, as sound is; 0: all
	behind  time.Duration // by which a fraction of the media packets arrives after others that were sent later
	swapped float64       // of the media packets
	twice   float64       // of all packets, arrive twice
	corrupt float64       // of the media packets, arrive with a wrong bit

	every, lasts time.Duration // the harm is there for so long at the beginning of each period; 0: always
}

// now returns the harm at a time.
func (h harm) now(at time.Time) harm {
	if h.every > 0 && time.Duration(at.UnixNano())%h.every >= h.lasts {
		return harm{}
	}
	return h
}

// grown returns the harm at a time after it was set.
func (h harm) grown(since time.Duration) harm {
	if h.ends > 0 && since >= h.ends {
		return harm{}
	}
	if h.falls > 0 {
		rest := max(0.001, 1-since.Seconds()/h.falls.Seconds())
		h.loss *= rest
		h.jitter = time.Duration(rest * float64(h.jitter))
		h.rateBps /= rest
	}
	if h.grows == 0 || since >= h.grows {
		return h
	}
	part := max(0.001, since.Seconds()/h.grows.Seconds())
	h.loss *= part
	h.delay = time.Duration(part * float64(h.delay))
	h.jitter = time.Duration(part * float64(h.jitter))
	h.rateBps /= part
	return h
}

// burstRun is how long a run of losses lasts.
const burstRun = 300 * time.Millisecond

// maxQueue is how long a packet waits for a link that is full, as in a home router.
const maxQueue = 300 * time.Millisecond

// access is one direction of a participant's access to the network. All connections of the
// participant share it.
type access struct {
	mu     sync.Mutex
	harm   harm
	since  time.Time              // when it was set
	loses  func(p []byte) bool    // what may be lost by chance
	chance func(p []byte) float64 // of each of them: lost if it is less than the loss
	source *rand.Rand
	free   time.Time // when the link has sent what it was given
	last   time.Time // when the newest packet arrives: none overtakes another, but those behind
	queue  chan delivery
	behind chan delivery
}

type delivery struct {
	at time.Time
	do func()
}

func newAccess(t *testing.T, seed uint64) *access {
	t.Helper()
	l := &access{loses: isMedia, source: rand.New(rand.NewPCG(seed, 2)), queue: make(chan delivery, 8192), behind: make(chan delivery, 8192)}
	l.chance = func([]byte) float64 { return l.source.Float64() }
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { carry(l.queue, stop) })
	wg.Go(func() { carry(l.behind, stop) })
	t.Cleanup(func() { close(stop); wg.Wait() })
	return l
}

func (l *access) set(h harm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harm, l.since = h, time.Now()
}

// send delivers p later, or never. What sets a connection up (STUN, DTLS) is never lost by
// chance, so that a test of a bad call never becomes one of a failed call.
func (l *access) send(p []byte, do func()) {
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
		case queue <- delivery{at, do}:
		default: // full
		}
	}
}

// mangle returns by how much a packet arrives later than its turn, and how often. It may change a bit of it.
func (l *access) mangle(p []byte) (behind time.Duration, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, times := l.harm, 1
	// A chance of none draws nothing: the others stay those of the seed.
	happens := func(share float64) bool { return share > 0 && l.source.Float64() < share }
	if l.loses(p) && happens(h.swapped) {
		behind = h.behind
	}
	if l.loses(p) && happens(h.corrupt) {
		p[len(p)/2] ^= 1
	}
	if happens(h.twice) {
		times = 2
	}
	return behind, times
}

func (l *access) arrival(p []byte, now time.Time) (at time.Time, passes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.harm.now(now).grown(now.Sub(l.since))
	if h.upTo > 0 && len(p) > h.upTo {
		h.loss = 0
	}
	if h.cut || l.loses(p) && (l.chance(p) < h.loss || h.largest > 0 && len(p) > h.largest) {
		return at, false
	}
	if h.burst > 0 && l.loses(p) {
		period := time.Duration(float64(burstRun) / h.burst)
		if time.Duration(now.UnixNano())%period < burstRun {
			return at, false
		}
	}
	at = now
	if h.stall > 0 {
		if into := time.Duration(now.UnixNano()) % h.period; into < h.stall {
			at = at.Add(h.stall - into)
		}
	}
	if h.rateBps > 0 {
		if l.free.Before(now) {
			l.free = now
		}
		if l.free.Sub(now) > cmp.Or(h.queue, maxQueue) {
			return at, false
		}
		l.free = l.free.Add(time.Duration(float64(8*len(p)) / h.rateBps * 1e9))
		at = l.free
	}
	at = at.Add(h.delay)
	if h.jitter > 0 {
		at = at.Add(time.Duration(l.source.Int64N(int64(h.jitter))))
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

// edge is a TURN server through which one participant, or one pair of them, reaches the
// others.
type edge struct {
	url      string
	up, down *access
	stop     func() // ends the server
}

// startEdge starts one that harms nothing yet.
func startEdge(t *testing.T, seed uint64) *edge {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	e := &edge{
		url: "turn:" + socket.LocalAddr().String() + "?transport=udp",
		up:  newAccess(t, seed), down: newAccess(t, seed+1000),
	}
	e.stop = serveRelay(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn: socket,
			RelayAddressGenerator: &edgeGenerator{
				RelayAddressGeneratorStatic: *onLoopback(),
				edge:                        e,
			},
		}},
	})
	return e
}

type edgeGenerator struct {
	turn.RelayAddressGeneratorStatic
	edge *edge
}

// AllocatePacketConn implements turn.RelayAddressGenerator.
func (g *edgeGenerator) AllocatePacketConn(network string, port int) (net.PacketConn, net.Addr, error) {
	conn, address, err := g.RelayAddressGeneratorStatic.AllocatePacketConn(network, port)
	if err != nil {
		return nil, nil, err
	}
	c := &edgeConn{PacketConn: conn, edge: g.edge, in: make(chan packet, 1024), closed: make(chan struct{})}
	c.wg.Go(c.read)
	return c, address, nil
}

// edgeConn is the relay's socket towards the others.
type edgeConn struct {
	net.PacketConn
	edge   *edge
	in     chan packet
	closed chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

type packet struct {
	bytes []byte
	from  net.Addr
}

// WriteTo implements net.PacketConn: what the participant sends.
func (c *edgeConn) WriteTo(p []byte, to net.Addr) (int, error) {
	own := append([]byte(nil), p...)
	c.edge.up.send(own, func() { _, _ = c.PacketConn.WriteTo(own, to) }) // it may be closed by then
	return len(p), nil
}

// read takes what the others send.
func (c *edgeConn) read() {
	buffer := make([]byte, 65536)
	for {
		n, from, err := c.PacketConn.ReadFrom(buffer)
		if err != nil {
			return
		}
		p := packet{append([]byte(nil), buffer[:n]...), from}
		c.edge.down.send(p.bytes, func() {
			select {
			case c.in <- p:
			case <-c.closed:
			default: // the relay reads too slowly
			}
		})
	}
}

// ReadFrom implements net.PacketConn.
func (c *edgeConn) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case next := <-c.in:
		return copy(p, next.bytes), next.from, nil
	case <-c.closed:
		return 0, nil, net.ErrClosed
	}
}

// Close implements net.PacketConn.
func (c *edgeConn) Close() error {
	var err error
	c.once.Do(func() {
		close(c.closed)
		err = c.PacketConn.Close()
		c.wg.Wait()
	})
	return err
}
