package relay

import (
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"
)

// retryTime is the pause after a connection could not be accepted: no file descriptor is free.
const retryTime = 100 * time.Millisecond

// ServeListener serves clients that connect to a listener, which it closes in the end. TLS is the
// listener's.
func (s *Server) ServeListener(l net.Listener, transport Transport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.Join(net.ErrClosed, l.Close())
	}
	s.listeners = append(s.listeners, l)
	s.wg.Go(func() { s.accept(l, transport) })
	return nil
}

func (s *Server) accept(l net.Listener, transport Transport) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			s.pause()
		default:
			s.connect(conn, transport)
		}
	}
}

// pause waits for retryTime, or until the server stops.
func (s *Server) pause() {
	timer := time.NewTimer(retryTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
	}
}

// connect serves a connection, unless there are too many.
func (s *Server) connect(conn net.Conn, transport Transport) {
	from := network(addrPort(conn.RemoteAddr()).Addr())
	if scope := s.enter(from); scope != "" {
		s.counts.Connections.add(scope, 1)
		_ = conn.Close()
		return
	}
	_ = s.serve(newStream(conn, func() { s.leave(from) }), transport) // it fails when the server has stopped
}

// enter counts a connection, and returns whose limit refuses it.
func (s *Server) enter(from netip.Prefix) Scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.conns[from] >= s.cfg.AddressConnections:
		return ScopeAddress
	case s.connected >= s.cfg.Connections:
		return ScopeAll
	}
	s.conns[from]++
	s.connected++
	return ""
}

// leave counts a connection that ended.
func (s *Server) leave(from netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected--
	if s.conns[from]--; s.conns[from] == 0 {
		delete(s.conns, from)
	}
}

func keys[K comparable, V any](m map[K]V) []K { return slices.Collect(maps.Keys(m)) }

func values[K comparable, V any](m map[K]V) []V { return slices.Collect(maps.Values(m)) }
