package network

import (
	"net"
	"sync"
	"testing"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
)

// Edge is a TURN server through which one participant, or a pair of them, reaches the others.
type Edge struct {
	URL      string // of TURN
	Up, Down *Link  // what the participant sends and receives
	Stop     func() // ends the server
}

// RelayAddress is where others reach the participant of an edge. It is loopback, or the bridge on which Janus expects
// all remote candidates.
var RelayAddress = net.IPv4(127, 0, 0, 3)

// StartEdge starts an edge without harm. The seed decides which packets are lost.
func StartEdge(t *testing.T, seed uint64) *Edge {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	e := &Edge{
		URL: "turn:" + socket.LocalAddr().String() + "?transport=udp",
		Up:  NewLink(t, seed), Down: NewLink(t, seed+1000),
	}
	e.Stop = ServeTURN(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn: socket,
			RelayAddressGenerator: &edgeGenerator{
				RelayAddressGeneratorStatic: turn.RelayAddressGeneratorStatic{RelayAddress: RelayAddress, Address: RelayAddress.String()},
				edge:                        e,
			},
		}},
	})
	return e
}

type edgeGenerator struct {
	turn.RelayAddressGeneratorStatic
	edge *Edge
}

// AllocatePacketConn implements turn.RelayAddressGenerator.
func (g *edgeGenerator) AllocatePacketConn(network string, port int) (net.PacketConn, net.Addr, error) {
	conn, address, err := g.RelayAddressGeneratorStatic.AllocatePacketConn(network, port)
	if err != nil {
		return nil, nil, err
	}
	c := &edgeConn{PacketConn: conn, edge: g.edge, in: make(chan packet, 1024), closed: make(chan struct{})}
	c.wg.Go(c.read)
	return c, address, nil
}

// edgeConn is the socket of a relay that faces the others.
type edgeConn struct {
	net.PacketConn
	edge   *Edge
	in     chan packet
	closed chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

type packet struct {
	bytes []byte
	from  net.Addr
}

// WriteTo implements net.PacketConn for packets that the participant sends.
func (c *edgeConn) WriteTo(p []byte, to net.Addr) (int, error) {
	own := append([]byte(nil), p...)
	c.edge.Up.Send(own, func() { _, _ = c.PacketConn.WriteTo(own, to) }) // it may be closed
	return len(p), nil
}

// read receives what the others send.
func (c *edgeConn) read() {
	buffer := make([]byte, 65536)
	for {
		n, from, err := c.PacketConn.ReadFrom(buffer)
		if err != nil {
			return
		}
		p := packet{append([]byte(nil), buffer[:n]...), from}
		c.edge.Down.Send(p.bytes, func() {
			select {
			case c.in <- p:
			case <-c.closed:
			default: // the relay reads too slowly
			}
		})
	}
}

// ReadFrom implements net.PacketConn.
func (c *edgeConn) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case next := <-c.in:
		return copy(p, next.bytes), next.from, nil
	case <-c.closed:
		return 0, nil, net.ErrClosed
	}
}

// Close implements net.PacketConn.
func (c *edgeConn) Close() error {
	var err error
	c.once.Do(func() {
		close(c.closed)
		err = c.PacketConn.Close()
		c.wg.Wait()
	})
	return err
}
