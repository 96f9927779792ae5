package relay

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/internal/serve/throttle"
)

// Config of a server. All is required but Allowed.
type Config struct {
	Realm  string
	Secret []byte // of the credentials
	// RelayAddress is what peers send to, IPv4. RelayBind is the address of the sockets of calls; it is
	// another one behind a NAT.
	RelayAddress, RelayBind netip.Addr
	MinPort, MaxPort        uint16         // of relay addresses, inclusive
	Allowed                 []netip.Prefix // that calls may reach although they are not public
	Kinds                   map[turnrest.Kind]Limits
	// Of clients without an allocation: requests a second of an address and of all; connections.
	AddressRequestsPerSecond, RequestsPerSecond float64
	AddressConnections, Connections             int
}

const (
	tries       = 32 // of ports
	maxNetworks = 1 << 16
	sweepTime   = time.Minute
	// burstSeconds is how long the rates of requests may have been saved up.
	burstSeconds = 4
)

// Server relays. Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	counts  *Counts
	ledger  *ledger
	replays *replays
	now     func() time.Time

	hash             throttle.Hash
	requests         *throttle.Table
	addressRate, all throttle.Rate

	sweeper *periodic.Task
	done    chan struct{}  // closed when the server stops
	wg      sync.WaitGroup // endpoints, relays, loops that accept connections

	mu        sync.RWMutex
	stopped   bool
	own       map[netip.Addr]bool
	relays    map[netip.AddrPort]*relay // by address
	locals    map[netip.AddrPort]*relay // by the socket's address
	endpoints map[*endpoint]bool
	listeners []net.Listener
	conns     map[netip.Prefix]int // connections of networks of addresses
	connected int
}

// New returns a server without endpoints. Close stops it.
func New(cfg Config, counts *Counts) *Server {
	now := time.Now()
	s := &Server{
		cfg: cfg, counts: counts, ledger: newLedger(cfg.Kinds), replays: newReplays(), now: time.Now, done: make(chan struct{}),
		hash: throttle.NewHash(), requests: throttle.NewTable(maxNetworks, now),
		addressRate: perSecond(cfg.AddressRequestsPerSecond), all: perSecond(cfg.RequestsPerSecond),
		relays: map[netip.AddrPort]*relay{}, locals: map[netip.AddrPort]*relay{},
		endpoints: map[*endpoint]bool{}, conns: map[netip.Prefix]int{},
	}
	s.findOwn()
	s.sweeper = periodic.Start(sweepTime, func(_ context.Context, now time.Time) {
		s.ledger.sweep(now)
		s.findOwn()
	})
	return s
}

func perSecond(n float64) throttle.Rate { return throttle.PerSecond(n, int(n*burstSeconds)) }

// Held is the number of allocations of a kind.
func (s *Server) Held(kind turnrest.Kind) int { return s.ledger.held(kind) }

// ServePacket serves clients on a UDP socket, which it closes in the end.
func (s *Server) ServePacket(conn net.PacketConn) error { return s.serve(conn, UDP) }

// Close ends all allocations and connections, and waits for them. It may be called twice.
func (s *Server) Close() {
	s.sweeper.Stop()
	s.mu.Lock()
	if !s.stopped {
		close(s.done)
	}
	s.stopped = true
	relays, endpoints, listeners := values(s.relays), keys(s.endpoints), s.listeners
	s.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close()
	}
	for _, r := range relays {
		r.stop(EndStop)
	}
	for _, e := range endpoints {
		_ = e.Close()
	}
	s.wg.Wait()
}

// offers reports whether credentials of a kind are valid here.
func (s *Server) offers(kind turnrest.Kind) bool {
	_, ok := s.cfg.Kinds[kind]
	return ok
}

// throttle takes a token for a request of a client without an allocation.
func (s *Server) throttle(client netip.Addr, now time.Time) Drop {
	if s.requests.Take(s.hash.Network(network(client)), s.addressRate, now) > 0 {
		return DropAddressRate
	}
	if s.requests.Take(0, s.all, now) > 0 {
		return DropRequestRate
	}
	return ""
}

// network returns what one client may have of addresses: one of IPv4, a /64 of IPv6.
func network(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	prefix, _ := addr.WithZone("").Prefix(bits) // both are in range
	return prefix
}

// opened counts an endpoint, unless the server has stopped.
func (s *Server) opened(e *endpoint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.endpoints[e] = true
	s.wg.Add(1)
	return true
}

// closed is called once for each endpoint, when reading from it failed.
func (s *Server) closed(e *endpoint) {
	s.mu.Lock()
	delete(s.endpoints, e)
	s.mu.Unlock()
	s.wg.Done()
}

// bind gives a relay a socket and an address. It reports false where no port is free, or the server has
// stopped.
func (s *Server) bind(r *relay) bool {
	for range tries {
		port := s.cfg.MinPort + uint16(rand.UintN(uint(s.cfg.MaxPort-s.cfg.MinPort)+1)) //nolint:gosec // no secret; in range
		if s.bindTo(r, port) {
			return true
		}
	}
	return false
}

func (s *Server) bindTo(r *relay, port uint16) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := netip.AddrPortFrom(s.cfg.RelayAddress, port)
	if s.stopped || s.relays[address] != nil {
		return false
	}
	at, local := s.sockets(r.subject.Kind)
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, port)))
	if err != nil {
		return false
	}
	r.UDPConn, r.address, r.local = conn, address, netip.AddrPortFrom(local, port)
	r.lifetime = time.AfterFunc(s.cfg.Kinds[r.subject.Kind].Lifetime, func() { r.stop(EndLifetime) })
	s.relays[r.address], s.locals[r.local] = r, r
	s.wg.Add(1) // until its last ReadFrom
	return true
}

// sockets returns where sockets of a kind listen, and what one of them sees of another.
func (s *Server) sockets(kind turnrest.Kind) (at, local netip.Addr) {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	switch {
	case kind == turnrest.Test:
		return loopback, loopback
	case s.cfg.RelayBind.IsUnspecified():
		return s.cfg.RelayBind, loopback
	}
	return s.cfg.RelayBind, s.cfg.RelayBind
}

// at returns the relay with an address, nil if there is none.
func (s *Server) at(address netip.AddrPort) *relay {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.relays[address]
}

// behind returns the relay with a socket, nil if there is none.
func (s *Server) behind(local netip.AddrPort) *relay {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.locals[local]
}

// forget is called when a relay was closed.
func (s *Server) forget(r *relay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.relays, r.address)
	delete(s.locals, r.local)
}
