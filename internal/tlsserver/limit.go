package tlsserver

import (
	"container/list"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/internal/serverlog"
)

const (
	// maxStreams is how many requests a client may have under way on one connection of HTTP/2: browsers have a few.
	maxStreams = 32
	// A server has so many connections without counting those that became WebSockets, or an eighth of the descriptors of
	// the process, which the store and the other servers need as well.
	maxConnections  = 8192
	leastMost       = 64
	descriptorShare = 8
	// logEvery is how often refused connections are logged at most.
	logEvery = time.Minute
)

// Limit limits what strangers can have a server hold, and what of it is logged: an address opens connections and streams
// without end, or sends what is no TLS. When there are too many connections, those that have waited longest for a request
// make room; while all have a request, or one address has most of them, more are closed.
func Limit(server *http.Server, logger *zap.Logger) *http.Server {
	most := min(maxConnections, max(leastMost, Descriptors()/descriptorShare))
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	server.ErrorLog = log.New(lines{logger}, "", 0)
	server.ConnState = newConnections(most, logger).changed
	return server
}

// lines are what net/http logs by itself.
type lines struct{ log *zap.Logger }

// Write logs one line, without the address of the peer.
func (l lines) Write(line []byte) (int, error) {
	l.log.Warn(serverlog.Line(line))
	return len(line), nil
}

// connections are those of a server. It is safe for concurrent use.
type connections struct {
	most   int
	log    *zap.Logger
	places *budget.Places[netip.Addr]

	mu      sync.Mutex
	open    map[net.Conn]*connection
	idle    *list.List // connections without a request, longest first
	refused int        // since the last line of the log
	logged  time.Time
}

type connection struct {
	address netip.Addr    // zero: not known, of a proxy for example
	idle    *list.Element // nil: it has a request
}

func newConnections(most int, logger *zap.Logger) *connections {
	return &connections{most: most, log: logger, places: budget.NewPlaces[netip.Addr](most), open: map[net.Conn]*connection{}, idle: list.New()}
}

// changed is http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.arrived(conn)
	case http.StateActive:
		if have := c.open[conn]; have != nil {
			c.busy(have)
		}
	case http.StateIdle:
		if have := c.open[conn]; have != nil && have.idle == nil {
			have.idle = c.idle.PushBack(conn)
		}
	case http.StateHijacked, http.StateClosed:
		c.left(conn)
	}
}

// arrived takes a connection in, or closes it.
func (c *connections) arrived(conn net.Conn) {
	address := addressOf(conn)
	if longest := c.idle.Front(); len(c.open) >= c.most && longest != nil {
		c.end(longest.Value.(net.Conn))
	}
	if !c.places.Take(address) {
		_ = conn.Close()
		c.noteRefused()
		return
	}
	c.open[conn] = &connection{address: address}
}

func (c *connections) end(conn net.Conn) {
	c.left(conn)
	_ = conn.Close()
}

func (c *connections) left(conn net.Conn) {
	have := c.open[conn]
	if have == nil { // it was ended
		return
	}
	c.busy(have)
	delete(c.open, conn)
	c.places.Leave(have.address)
}

func (c *connections) busy(have *connection) {
	if have.idle != nil {
		c.idle.Remove(have.idle)
		have.idle = nil
	}
}

func (c *connections) noteRefused() {
	c.refused++
	if now := time.Now(); now.Sub(c.logged) >= logEvery {
		c.log.Warn("connections refused: too many are open, or one address has most of them", zap.Int("refused", c.refused), zap.Int("most", c.most))
		c.refused, c.logged = 0, now
	}
}

// addressOf returns the address of the peer, of IPv6 its network of 64 bits. It is zero for a peer that may be a proxy.
func addressOf(conn net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap().WithZone("")
	if address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return netip.Addr{}
	}
	if address.Is6() {
		network, err := address.Prefix(64)
		if err != nil {
			return netip.Addr{}
		}
		return network.Addr()
	}
	return address
}
