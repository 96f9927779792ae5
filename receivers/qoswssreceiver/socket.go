package qoswssreceiver

import (
	"context"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/protocol"
)

// sockets is the WebSocket door: it upgrades, limits and keeps the connections.
type sockets struct {
	door     *door
	upgrader websocket.Upgrader

	mu   sync.Mutex // guards open and the order of closing against wg.Add
	open map[*connection]struct{}
	wg   sync.WaitGroup
}

// refusalSlack is how many connections over the limit are upgraded to be told so: a
// browser cannot see why an upgrade failed.
const refusalSlack = 64

func newSockets(d *door) *sockets {
	return &sockets{
		door: d,
		open: make(map[*connection]struct{}),
		upgrader: websocket.Upgrader{
			// Most connections are idle most of the time: small buffers of their own,
			// larger ones from pools while a message is at hand.
			ReadBufferSize:   1 << 10,
			WriteBufferSize:  1 << 10,
			WriteBufferPool:  &sync.Pool{},
			HandshakeTimeout: d.timing.write,
			Subprotocols:     []string{protocol.Subprotocol},
			Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
				writeRefusal(w, status, &protocol.Error{Code: protocol.CodeMalformed, Message: "this path takes WebSocket upgrades"}, 0)
			},
			// The origin is checked with the token in hello, where the AppID is known
			// and a browser can be told.
			CheckOrigin: func(*http.Request) bool { return true },
		},
	}
}

// ServeHTTP upgrades and returns: the memory of the HTTP handler is free for the life of
// the connection.
func (s *sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &connection{sockets: s, door: s.door}
	over, ok := s.enter(c)
	if !ok {
		s.door.refuse(w, &protocol.Error{Code: protocol.CodeOverloaded, Message: "no more connections are taken now"})
		return
	}
	c.overloaded = over
	c.session = newSession(s.door, r.Header.Get("Origin"), c.write)
	ws, err := s.upgrader.Upgrade(wrappingHijacker{w, c}, r, nil)
	if err != nil {
		s.leave(c)
		return
	}
	c.ws = ws
	go c.run()
}

// enter counts a connection in. over says that it is past the limit, ok false that it
// cannot even be told so.
func (s *sockets) enter(c *connection) (over, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.door.cfg.MaxConnections
	if s.door.closing.Load() || len(s.open) >= limit+refusalSlack {
		return false, false
	}
	over = len(s.open) >= limit
	s.open[c] = struct{}{}
	s.wg.Add(1)
	s.door.metrics.ReceiverQoswssConnections.Add(context.Background(), 1)
	return over, true
}

func (s *sockets) leave(c *connection) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	s.door.metrics.ReceiverQoswssConnections.Add(context.Background(), -1)
	s.wg.Done()
}

// sayBye wakes all connections; each says bye and ends.
func (s *sockets) sayBye() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.door.closing.Store(true)
	for c := range s.open {
		c.wake()
	}
}

// cut closes all connections at once.
func (s *sockets) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.cut()
	}
}
