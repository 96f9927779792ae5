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

	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/serverlog"
)

const (
	// maxStreams bounds the concurrent requests on one connection of HTTP/2: browsers have a few.
	maxStreams = 32
	// maxConnections bounds the connections of a server, except WebSockets. The bound is an eighth of the process's
	// descriptors, which the store and the other servers need too, if that is less, and at least minConnections.
	maxConnections  = 8192
	minConnections  = 64
	descriptorShare = 8
	// logEvery is the shortest time between two log lines about refused connections.
	logEvery = time.Minute
)

// Limit bounds the connections and streams that clients can open, and the log lines about them. At the limit of connections
// it closes the one that has been idle longest. It refuses a new connection if all have a request, or if one address has most
// of them.
func Limit(server *http.Server, logger *zap.Logger) *http.Server {
	most := min(maxConnections, max(minConnections, Descriptors()/descriptorShare))
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	server.ErrorLog = log.New(lines{logger}, "", 0)
	server.ConnState = newConnections(most, logger).stateChanged
	return server
}

// lines writes the log lines of net/http to the logger.
type lines struct{ log *zap.Logger }

// Write logs one line, without the address of the peer.
func (l lines) Write(line []byte) (int, error) {
	l.log.Warn(serverlog.Line(line))
	return len(line), nil
}

// connections holds the connections of a server. It is safe for concurrent use.
type connections struct {
	most   int
	log    *zap.Logger
	places *budget.Places[netip.Addr]

	mu      sync.Mutex
	open    map[net.Conn]*connection
	idle    *list.List // connections without a request, the longest idle first
	refused int        // since the last line of the log
	logged  time.Time
}

type connection struct {
	address netip.Addr    // zero: unknown, such as that of a proxy's client
	idle    *list.Element // nil: it has a request
}

func newConnections(most int, logger *zap.Logger) *connections {
	return &connections{most: most, log: logger, places: budget.NewPlaces[netip.Addr](most), open: map[net.Conn]*connection{}, idle: list.New()}
}

// stateChanged is http.Server.ConnState.
func (c *connections) stateChanged(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.add(conn)
	case http.StateActive:
		if have := c.open[conn]; have != nil {
			c.markActive(have)
		}
	case http.StateIdle:
		if have := c.open[conn]; have != nil && have.idle == nil {
			have.idle = c.idle.PushBack(conn)
		}
	case http.StateHijacked, http.StateClosed:
		c.remove(conn)
	}
}

// add adds a connection, or closes it at the limit.
func (c *connections) add(conn net.Conn) {
	address := addressOf(conn)
	if longest := c.idle.Front(); len(c.open) >= c.most && longest != nil {
		c.closeConnection(longest.Value.(net.Conn))
	}
	if !c.places.Take(address) {
		_ = conn.Close()
		c.noteRefused()
		return
	}
	c.open[conn] = &connection{address: address}
}

func (c *connections) closeConnection(conn net.Conn) {
	c.remove(conn)
	_ = conn.Close()
}

func (c *connections) remove(conn net.Conn) {
	have := c.open[conn]
	if have == nil { // closeConnection has removed it
		return
	}
	c.markActive(have)
	delete(c.open, conn)
	c.places.Leave(have.address)
}

func (c *connections) markActive(have *connection) {
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

// addressOf returns the address of the peer, for IPv6 its /64 network. It is zero for a peer that may be a proxy.
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
