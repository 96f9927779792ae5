package e2e

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/network"
)

// relay is a TURN server that harms the media it carries.
type relay struct {
	url     string
	carried atomic.Int64 // media packets that arrived to be passed on
	dropped atomic.Int64 // those that were not
}

// startRelay starts a relay that drops a fraction of the media packets, each way. What
// sets a connection up (STUN, DTLS) passes, so that a test of a bad call never becomes one
// of a failed call. The losses are the same in each run.
func startRelay(t *testing.T, lossFraction float64) *relay {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{url: "turn:" + socket.LocalAddr().String() + "?transport=udp"}
	dice := &dice{fraction: lossFraction, source: rand.New(rand.NewPCG(1, 2))}
	network.ServeTURN(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn: socket,
			RelayAddressGenerator: &lossyGenerator{
				RelayAddressGeneratorStatic: *network.OnLoopback(),
				relay:                       r, dice: dice,
			},
		}},
	})
	return r
}

// query makes the demo page use nothing but this relay.
func (r *relay) query() []string {
	return []string{"relay", "1", "turn", r.url, "turnUser", network.TURNUser, "turnPass", network.TURNPassword}
}

// lossyGenerator hands out relay sockets that lose packets.
type lossyGenerator struct {
	turn.RelayAddressGeneratorStatic
	relay *relay
	dice  *dice
}

// AllocatePacketConn implements turn.RelayAddressGenerator.
func (g *lossyGenerator) AllocatePacketConn(protocol string, port int) (net.PacketConn, net.Addr, error) {
	conn, address, err := g.RelayAddressGeneratorStatic.AllocatePacketConn(protocol, port)
	if err != nil {
		return nil, nil, err
	}
	return &lossyConn{PacketConn: conn, relay: g.relay, dice: g.dice}, address, nil
}

// lossyConn is the socket that faces the other side.
type lossyConn struct {
	net.PacketConn
	relay *relay
	dice  *dice
}

// WriteTo implements net.PacketConn.
func (c *lossyConn) WriteTo(p []byte, to net.Addr) (int, error) {
	if network.IsMedia(p) {
		c.relay.carried.Add(1)
		if c.dice.lose() {
			c.relay.dropped.Add(1)
			return len(p), nil
		}
	}
	return c.PacketConn.WriteTo(p, to)
}

type dice struct {
	mu       sync.Mutex
	fraction float64
	source   *rand.Rand
}

func (d *dice) lose() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.source.Float64() < d.fraction
}
