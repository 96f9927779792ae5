package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// maxPacketBytes is more than the largest packet that the library handles.
	maxPacketBytes = 1600
	// idleTime is how long a TCP connection may have no allocation: the handshake of TLS, two requests, a
	// wait before the next.
	idleTime = 30 * time.Second
	// writeTime ends a connection whose client does not read.
	writeTime = 10 * time.Second
)

// errFrame says that a stream has neither a STUN message nor data of a channel.
var errFrame = errors.New("no frame of TURN")

// stream reads packets from a TCP connection, RFC 8656, sections 2.1 and 12.5: STUN messages, and data of
// channels that is padded to four bytes.
type stream struct {
	net.Conn
	reader *bufio.Reader
	leave  func() // called once, at the end
	once   sync.Once
}

func newStream(conn net.Conn, leave func()) *stream {
	s := &stream{Conn: conn, reader: bufio.NewReaderSize(conn, maxPacketBytes), leave: leave}
	s.wait(idleTime)
	return s
}

// wait bounds the time until the next packets; 0: no bound.
func (s *stream) wait(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = s.SetReadDeadline(until) // fails on a closed connection alone
}

// ReadFrom implements net.PacketConn. Any error ends the connection.
func (s *stream) ReadFrom(p []byte) (int, net.Addr, error) {
	n, err := s.read(p)
	if err != nil {
		_ = s.Close()
		return 0, nil, err
	}
	return n, s.RemoteAddr(), nil
}

func (s *stream) read(p []byte) (int, error) {
	head, err := s.reader.Peek(channelHeaderBytes)
	if err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint16(head[2:]))
	switch head[0] & 0xC0 {
	case 0x00:
		n += headerBytes
	case 0x40:
		n = channelHeaderBytes + (n+3)&^3
	default:
		return 0, errFrame
	}
	if n >= min(len(p), maxPacketBytes) {
		return 0, errFrame
	}
	return io.ReadFull(s.reader, p[:n])
}

// WriteTo implements net.PacketConn.
func (s *stream) WriteTo(p []byte, _ net.Addr) (int, error) {
	err := s.SetWriteDeadline(time.Now().Add(writeTime))
	if err != nil {
		return 0, err
	}
	n, err := s.Write(p)
	if err != nil {
		_ = s.Close()
	}
	return n, err
}

// Close implements net.PacketConn. It may be called twice.
func (s *stream) Close() (err error) {
	s.once.Do(func() {
		err = s.Conn.Close()
		s.leave()
	})
	return err
}
