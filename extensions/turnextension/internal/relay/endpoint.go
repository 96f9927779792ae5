package relay

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/stun/v3"
	"github.com/pion/turn/v4"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// errRefused says to the library that there is no relay address. It answers 508.
var errRefused = errors.New("no relay address")

// endpoint is where clients send to: the UDP socket, or one TCP connection. The library reads and handles
// one packet after the other in one goroutine, which alone uses current, verified and refusal.
type endpoint struct {
	net.PacketConn
	server    *Server
	transport Transport

	current  message          // the request that is handled
	from     netip.AddrPort   // its client
	verified turnrest.Subject // whose it is, once the library asked for the quota
	refusal  stun.ErrorCode   // of its credentials; 0: not refused
	ended    sync.Once

	mu     sync.RWMutex
	relays map[netip.AddrPort]*relay // by client
}

// serve hands a socket to a server of the library.
func (s *Server) serve(conn net.PacketConn, transport Transport) error {
	e := &endpoint{PacketConn: conn, server: s, transport: transport, relays: map[netip.AddrPort]*relay{}}
	if !s.opened(e) {
		return errors.Join(net.ErrClosed, conn.Close())
	}
	_, err := turn.NewServer(turn.ServerConfig{
		Realm:         s.cfg.Realm,
		LoggerFactory: silent{}, // the library logs addresses
		AuthHandler:   e.authenticate,
		QuotaHandler:  e.admit,
		EventHandler: turn.EventHandler{
			OnAuth:              e.authenticated,
			OnPermissionCreated: e.permission(true), OnPermissionDeleted: e.permission(false),
			OnChannelCreated: e.channel(true), OnChannelDeleted: e.channel(false),
		},
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: e, RelayAddressGenerator: e, PermissionHandler: e.permit}},
	})
	if err != nil {
		e.ended.Do(func() { s.closed(e) })
		return errors.Join(err, conn.Close())
	}
	return nil
}

// ReadFrom returns the next packet that the library handles.
func (e *endpoint) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := e.PacketConn.ReadFrom(p)
		if err != nil {
			if e.transport == UDP && !errors.Is(err, net.ErrClosed) {
				e.server.pause() // one client's error; the socket serves all
				continue
			}
			e.ended.Do(func() { e.server.closed(e) })
			return 0, nil, err
		}
		if drop := e.accept(p[:n], addrPort(from)); drop != "" {
			e.server.counts.Dropped.add(drop, 1)
			continue
		}
		return n, from, nil
	}
}

// WriteTo sends a packet to a client. Where credentials were refused the library answers 400; RFC 8489, section 9.2.4, and
// RFC 8656, section 5, have 401 and 441, and browsers report nothing else as a matter of credentials. Only the goroutine
// that handles requests writes errors.
func (e *endpoint) WriteTo(p []byte, to net.Addr) (int, error) {
	if !isError(p) || e.refusal == 0 {
		return e.PacketConn.WriteTo(p, to)
	}
	answer, err := refuse(p, e.refusal, e.server.cfg.Realm, e.current.nonce)
	if err != nil {
		return 0, err
	}
	if _, err := e.PacketConn.WriteTo(answer, to); err != nil {
		return 0, err
	}
	return len(p), nil
}

// accept checks the form of a packet and, of clients without an allocation, the rate.
func (e *endpoint) accept(p []byte, from netip.AddrPort) Drop {
	held := e.held(from) != nil
	if held && isChannelData(p) {
		return ""
	}
	if !held {
		if drop := e.server.throttle(from.Addr(), e.server.now()); drop != "" {
			return drop
		}
		if isChannelData(p) {
			return DropNoRelay
		}
	}
	m, ok := parse(p)
	if !ok {
		return DropForm
	}
	e.current, e.from, e.verified, e.refusal = m, from, turnrest.Subject{}, 0
	return ""
}

// authenticate implements turn.AuthHandler: it returns the key with which the library checks the
// integrity. An allocation outlives its credential: the client refreshes it with the same.
func (e *endpoint) authenticate(username, realm string, _ net.Addr) ([]byte, bool) {
	claims, err := turnrest.Parse(username)
	held := e.held(e.from)
	outcome := Accepted
	switch {
	case err != nil || realm != e.server.cfg.Realm:
		outcome = Malformed
	case !e.server.offers(claims.Kind):
		outcome = Disabled
	case held != nil && held.subject != claims.Subject:
		outcome = OtherUser
	case held == nil && claims.Expired(e.server.now()):
		outcome = Expired
	case held == nil && e.current.method == methodAllocate && e.server.replays.has(e.current.integrity):
		outcome = Replayed
	}
	if outcome != Accepted {
		e.server.counts.Authentications.add(outcome, 1)
		e.refusal = stun.CodeUnauthorized
		if outcome == OtherUser {
			e.refusal = stun.CodeWrongCredentials
		}
		return nil, false
	}
	return turn.GenerateAuthKey(username, realm, turnrest.Password(e.server.cfg.Secret, username)), true
}

// authenticated is called with the result of the check.
func (e *endpoint) authenticated(_, _ net.Addr, _, _, _, _ string, ok bool) {
	outcome := Accepted
	if !ok {
		outcome, e.refusal = Wrong, stun.CodeUnauthorized
	}
	e.server.counts.Authentications.add(outcome, 1)
}

// admit implements turn.QuotaHandler. The integrity of the request was checked. False answers 486.
func (e *endpoint) admit(username, _ string, _ net.Addr) bool {
	claims, _ := turnrest.Parse(username) // authenticate did
	e.verified = claims.Subject
	if refusal := e.server.ledger.check(e.verified, e.server.now()); refusal != "" {
		e.server.counts.Refused.add(refusal, 1)
		return false
	}
	return true
}

// Validate implements turn.RelayAddressGenerator.
func (e *endpoint) Validate() error { return nil }

// AllocateConn implements turn.RelayAddressGenerator: relays for TCP, RFC 6062, are not offered.
func (e *endpoint) AllocateConn(string, int) (net.Conn, net.Addr, error) {
	return nil, nil, errRefused
}

// AllocatePacketConn implements turn.RelayAddressGenerator, for the request that is handled.
func (e *endpoint) AllocatePacketConn(string, int) (net.PacketConn, net.Addr, error) {
	r, refusal := e.allocate()
	if refusal != "" {
		e.server.counts.Refused.add(refusal, 1)
		return nil, nil, errRefused
	}
	e.server.replays.add(e.current.integrity)
	e.server.counts.Allocations.add(Made{r.subject.Kind, e.transport}, 1)
	return r, net.UDPAddrFromAddrPort(r.address), nil
}

func (e *endpoint) allocate() (*relay, Refusal) {
	if e.current.evenPort || e.current.transport != transportUDP || e.verified == (turnrest.Subject{}) {
		return nil, RefusedUnsupported
	}
	lease, refusal := e.server.ledger.take(e.verified, e.server.now())
	if refusal != "" {
		return nil, refusal
	}
	r := &relay{
		server: e.server, endpoint: e, client: e.from, subject: e.verified, lease: lease,
		permissions: map[netip.Addr]bool{}, channels: map[uint16]bool{},
	}
	if !e.server.bind(r) {
		lease.giveBack()
		return nil, RefusedPorts
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.relays[e.from] = r
	e.wait(0)
	return r, ""
}

// held returns the relay of a client, nil if it has none.
func (e *endpoint) held(client netip.AddrPort) *relay {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.relays[client]
}

// forget is called when a relay was closed.
func (e *endpoint) forget(r *relay) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.relays[r.client] == r {
		delete(e.relays, r.client)
		e.wait(idleTime)
	}
}

// wait bounds the time until the next packet of a TCP connection; 0: no bound.
func (e *endpoint) wait(d time.Duration) {
	if c, ok := e.PacketConn.(*stream); ok {
		c.wait(d)
	}
}

// permit implements turn.PermissionHandler, for permissions and for channels.
func (e *endpoint) permit(client net.Addr, peer net.IP) bool {
	ok := e.mayPermit(addrPort(client), peer)
	if !ok {
		e.server.counts.Permissions.Add(1)
	}
	return ok
}

func (e *endpoint) mayPermit(client netip.AddrPort, ip net.IP) bool {
	r := e.held(client)
	peer, ok := netip.AddrFromSlice(ip)
	if r == nil || !ok {
		return false
	}
	peer = peer.Unmap()
	if !e.server.mayReach(r.subject.Kind, peer) || !r.mayPermit(peer) {
		return false
	}
	if e.current.method != methodChannelBind {
		return true
	}
	_, ok = e.server.route(r, netip.AddrPortFrom(peer, e.current.peer.Port()))
	return ok && r.mayBind(e.current.channel)
}

// permission counts permissions as the library makes and deletes them.
func (e *endpoint) permission(on bool) func(src, dst net.Addr, protocol, username, realm string, address net.Addr, peer net.IP) {
	return func(_, _ net.Addr, _, _, _ string, address net.Addr, ip net.IP) {
		if r, peer := e.server.at(addrPort(address)), addrPort(&net.UDPAddr{IP: ip}).Addr(); r != nil {
			r.permitted(peer, on)
		}
	}
}

// channel counts channels as the library makes and deletes them.
func (e *endpoint) channel(on bool) func(src, dst net.Addr, protocol, username, realm string, address, peer net.Addr, number uint16) {
	return func(_, _ net.Addr, _, _, _ string, address, _ net.Addr, number uint16) {
		if r := e.server.at(addrPort(address)); r != nil {
			r.bound(number, on)
		}
	}
}
