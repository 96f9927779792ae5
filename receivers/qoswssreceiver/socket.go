package qoswssreceiver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/tlsserver"
	"github.com/qosrtc/qos/protocol"
)

// sockets is the WebSocket endpoint: it upgrades and limits the connections.
type sockets struct {
	shared   *shared
	upgrader websocket.Upgrader

	mu      sync.Mutex // guards open and the order of closing against wg.Add
	open    map[*connection]struct{}
	refused int // number of open ones that get a refusal
	maxOpen int // limit of the others
	wg      sync.WaitGroup
}

// refusalSlack bounds the connections that are upgraded only to send a refusal: a browser cannot
// see the reason of a failed upgrade.
const refusalSlack = 64

// mostSocketsOf returns the limit of open WebSockets. A quarter of the process's descriptors remains for the store and
// for requests.
func mostSocketsOf(d *shared) int {
	most := tlsserver.Descriptors() / 4 * 3
	if most >= d.cfg.MaxConnections {
		return d.cfg.MaxConnections
	}
	d.log.Info("the process may have too few files open for max_connections; raise its limit (ulimit -n)",
		zap.Int("max_connections", d.cfg.MaxConnections), zap.Int("accepted", most))
	return most
}

func newSockets(d *shared) *sockets {
	return &sockets{
		shared:  d,
		maxOpen: mostSocketsOf(d),
		open:    make(map[*connection]struct{}),
		upgrader: websocket.Upgrader{
			// Most connections are idle most of the time: small buffers of their own, larger ones from pools
			// while a message is read or written.
			ReadBufferSize:   0, // that of the connection's inbox
			WriteBufferSize:  1 << 10,
			WriteBufferPool:  &sync.Pool{},
			HandshakeTimeout: d.timing.write,
			Subprotocols:     []string{protocol.Subprotocol},
			Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
				w.Header().Set("Sec-WebSocket-Version", "13") // RFC 6455, section 4.4
				e := &protocol.Error{Code: protocol.CodeMalformed, Message: "this path takes WebSocket upgrades"}
				d.writeRefusal(w, status, refusal{Error: e})
			},
			// The origin is checked with the token in hello, when the AppID is known and a browser can
			// read the reason.
			CheckOrigin: func(*http.Request) bool { return true },
		},
	}
}

// ServeHTTP upgrades and returns, so that the memory of the HTTP handler is not held while the
// connection is open.
func (s *sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &connection{sockets: s, shared: s.shared, network: s.shared.throttles.network(r)}
	refusal := take(s.shared.throttles.addressBuckets(s.shared.throttles.sockets, party{network: c.network}), time.Now())
	if refusal, ok := s.enter(c, refusal); !ok {
		s.shared.refuse(w, refusal)
		return
	}
	c.session = newSession(s.shared, originOf(r), c.write)
	c.session.network = c.network
	ws, err := s.upgrader.Upgrade(wrappingHijacker{w, c}, r, nil)
	if err != nil {
		s.leave(c)
		return
	}
	c.ws = ws
	ws.SetPingHandler(c.pong)
	ws.SetPongHandler(c.countControl)
	c.started = time.Now()
	c.lastRead = c.started
	go c.run(false)
}

// enter counts a connection that is served or gets a refusal over its WebSocket. If ok is false, it
// gets neither.
func (s *sockets) enter(c *connection, refusal *protocol.Error) (refused *protocol.Error, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := &protocol.Error{Code: protocol.CodeOverloaded, Message: "the server has too many connections"}
	if s.shared.closing.Load() {
		return full, false
	}
	if refusal == nil && len(s.open)-s.refused >= s.maxOpen {
		refusal = full
	}
	if refusal == nil {
		refusal = s.shared.throttles.connections.enter(c.network)
	}
	if refusal != nil {
		if s.refused >= refusalSlack {
			return refusal, false
		}
		s.refused++
	}
	c.refusal = refusal
	s.open[c] = struct{}{}
	s.wg.Add(1)
	s.shared.metrics.ReceiverQoswssConnections.Add(context.Background(), 1)
	return refusal, true
}

func (s *sockets) leave(c *connection) {
	s.mu.Lock()
	delete(s.open, c)
	if c.refusal != nil {
		s.refused--
	} else {
		s.shared.throttles.connections.leave(c.network)
	}
	s.mu.Unlock()
	s.shared.metrics.ReceiverQoswssConnections.Add(context.Background(), -1)
	s.wg.Done()
}

// closeAll wakes all connections; each sends bye and ends.
func (s *sockets) closeAll() {
	s.mu.Lock()
	s.shared.closing.Store(true)
	s.mu.Unlock()
	s.wake()
}

// openApps returns the applications with connections.
func (s *sockets) openApps() []string { return s.shared.perApp.keys() }

// wakeApps wakes the connections of some applications, which check again what is due.
func (s *sockets) wakeApps(apps map[string]dueEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		if app := c.app.Load(); app != nil && !apps[*app].IsZero() {
			c.wake()
		}
	}
}

// wake wakes all connections, which check again what is due.
func (s *sockets) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.wake()
	}
}

// cut closes all connections immediately.
func (s *sockets) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.cut()
	}
}
