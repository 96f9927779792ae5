package relay

import (
	"net"
	"net/netip"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/publicaddr"
)

// mayReach reports whether a relay may have permissions for an address. At the relay address of this
// server, each packet decides: route.
func (s *Server) mayReach(kind turnrest.Kind, to netip.Addr) bool {
	to = to.Unmap()
	switch {
	case to == s.cfg.RelayAddress:
		return true
	case kind == turnrest.Test:
		return false
	case s.isOwn(to):
		return publicaddr.Within(to, s.cfg.Allowed)
	}
	return publicaddr.Reachable(to, s.cfg.Allowed)
}

// route returns where a relay's socket sends packets for a peer, and false where it must not.
func (s *Server) route(r *relay, to netip.AddrPort) (netip.AddrPort, bool) {
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	if peer := s.at(to); peer != nil && r.reaches(peer) {
		return peer.local, true
	}
	if to.Addr() == s.cfg.RelayAddress && !publicaddr.Within(to.Addr(), s.cfg.Allowed) {
		return to, false
	}
	return to, r.subject.Kind == turnrest.Call && s.mayReach(r.subject.Kind, to.Addr())
}

// origin returns the peer's address of a packet that a relay's socket received, and false where the
// packet must not pass.
func (s *Server) origin(r *relay, from netip.AddrPort) (netip.AddrPort, bool) {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	if peer := s.behind(from); peer != nil {
		return peer.address, r.reaches(peer)
	}
	return s.route(r, from)
}

// reaches reports whether packets pass between two relays: of one kind, and of one user in a test.
func (r *relay) reaches(peer *relay) bool {
	return r.subject.Kind == peer.subject.Kind && (r.subject.Kind == turnrest.Call || r.subject == peer.subject)
}

// isOwn reports whether an address is this machine's, or the broadcast address of one of its networks.
func (s *Server) isOwn(addr netip.Addr) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.own[addr]
}

// findOwn reads the addresses of this machine.
func (s *Server) findOwn() {
	own := map[netip.Addr]bool{s.cfg.RelayAddress: true, s.cfg.RelayBind: true}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return // those that were read before stay
	}
	for _, addr := range addrs {
		if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
			own[prefix.Addr().Unmap()] = true
			own[broadcast(prefix)] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = own
}

// broadcast returns the last address of an IPv4 network; of an IPv6 network its own address, for it has
// no broadcast.
func broadcast(p netip.Prefix) netip.Addr {
	if !p.Addr().Is4() || p.Bits() > 30 {
		return p.Addr()
	}
	bytes := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	return netip.AddrFrom4(bytes)
}
