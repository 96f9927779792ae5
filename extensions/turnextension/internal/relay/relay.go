package relay

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// relay is the socket of one allocation. It implements net.PacketConn for the library, which knows the
// peers' addresses alone.
type relay struct {
	*net.UDPConn
	server   *Server
	endpoint *endpoint
	client   netip.AddrPort
	subject  turnrest.Subject
	address  netip.AddrPort // as peers see it
	local    netip.AddrPort // of the socket, as another socket of this server sees it
	lease    *lease
	lifetime *time.Timer

	end   atomic.Pointer[End] // set before closing; nil: the library closes it
	close sync.Once
	ended sync.Once

	mu          sync.Mutex
	permissions map[netip.Addr]bool
	channels    map[uint16]bool
}

// maxPermissions and maxChannels bound those of one allocation. The library searches channels one by one.
const (
	maxPermissions = 64
	maxChannels    = 64
)

// WriteTo sends data of the client to a peer. It reports success where the data is dropped, as UDP does.
func (r *relay) WriteTo(p []byte, to net.Addr) (int, error) {
	target, ok := r.server.route(r, addrPort(to))
	if !ok {
		r.server.counts.Dropped.add(DropPeer, 1)
		return len(p), nil
	}
	if !r.charge(len(p), Sent) {
		return len(p), nil
	}
	return r.WriteToUDPAddrPort(p, target)
}

// ReadFrom receives data of a peer.
func (r *relay) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := r.ReadFromUDPAddrPort(p)
		if err != nil {
			r.ended.Do(r.server.wg.Done)
			return 0, nil, err
		}
		peer, ok := r.server.origin(r, from)
		if !ok {
			r.server.counts.Dropped.add(DropPeer, 1)
			continue
		}
		if r.charge(n, Received) {
			return n, net.UDPAddrFromAddrPort(peer), nil
		}
	}
}

// charge counts a packet, and reports whether it passes. The packet that exceeds the bytes of an hour
// ends the allocation.
func (r *relay) charge(n int, direction Direction) bool {
	counts := r.server.counts
	switch r.lease.charge(n, r.server.now()) {
	case dropForUser:
		counts.Dropped.add(DropUserRate, 1)
	case dropForAll:
		counts.Dropped.add(DropRate, 1)
	case exhausted:
		counts.Dropped.add(DropBytes, 1)
		r.stop(EndBytes)
	case pass:
		counts.Bytes.add(Flow{r.subject.Kind, direction}, n)
		return true
	}
	return false
}

// stop ends the allocation: the library deletes it when reading fails.
func (r *relay) stop(why End) {
	r.end.CompareAndSwap(nil, &why)
	_ = r.Close()
}

// Close returns the quota, once.
func (r *relay) Close() (err error) {
	r.close.Do(func() {
		err = r.UDPConn.Close()
		why := EndClient
		if end := r.end.Load(); end != nil {
			why = *end
		}
		r.server.forget(r)
		r.lifetime.Stop()
		r.endpoint.forget(r)
		r.lease.giveBack()
		r.server.counts.Ended.add(why, 1)
	})
	return err
}

// mayPermit reports whether there is room for one more permission, or it exists.
func (r *relay) mayPermit(peer netip.Addr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.permissions[peer] || len(r.permissions) < maxPermissions
}

// mayBind is mayPermit for a channel.
func (r *relay) mayBind(channel uint16) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.channels[channel] || len(r.channels) < maxChannels
}

func (r *relay) permitted(peer netip.Addr, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.permissions[peer] = true
	} else {
		delete(r.permissions, peer)
	}
}

func (r *relay) bound(channel uint16, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.channels[channel] = true
	} else {
		delete(r.channels, channel)
	}
}

// addrPort returns the address of a client or a peer, IPv4 as itself.
func addrPort(addr net.Addr) (at netip.AddrPort) {
	switch a := addr.(type) {
	case *net.UDPAddr:
		at = a.AddrPort()
	case *net.TCPAddr:
		at = a.AddrPort()
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
