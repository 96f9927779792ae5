package e2e

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
)

const (
	relayUser   = "e2e"
	relaySecret = "e2e-secret"
	relayRealm  = "qos"
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
	serveRelay(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn: socket,
			RelayAddressGenerator: &lossyGenerator{
				RelayAddressGeneratorStatic: *onLoopback(),
				relay:                       r, dice: dice,
			},
		}},
	})
	return r
}

// serveRelay starts a TURN server with the user of the tests.
func serveRelay(t *testing.T, config turn.ServerConfig) (stop func()) {
	t.Helper()
	config.Realm = relayRealm
	config.AuthHandler = func(user, realm string, _ net.Addr) ([]byte, bool) {
		return turn.GenerateAuthKey(user, realm, relaySecret), user == relayUser
	}
	server, err := turn.NewServer(config)
	require.NoError(t, err)
	stop = sync.OnceFunc(func() { require.NoError(t, server.Close()) })
	t.Cleanup(stop)
	return stop
}

// onLoopback makes relays on loopback.
func onLoopback() *turn.RelayAddressGeneratorStatic {
	return &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}
}

// query makes the demo page use nothing but this relay.
func (r *relay) query() []string {
	return []string{"relay", "1", "turn", r.url, "turnUser", relayUser, "turnPass", relaySecret}
}

// lossyGenerator hands out relay sockets that lose packets.
type lossyGenerator struct {
	turn.RelayAddressGeneratorStatic
	relay *relay
	dice  *dice
}

// AllocatePacketConn implements turn.RelayAddressGenerator.
func (g *lossyGenerator) AllocatePacketConn(network string, port int) (net.PacketConn, net.Addr, error) {
	conn, address, err := g.RelayAddressGeneratorStatic.AllocatePacketConn(network, port)
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
	if isMedia(p) {
		c.relay.carried.Add(1)
		if c.dice.lose() {
			c.relay.dropped.Add(1)
			return len(p), nil
		}
	}
	return c.PacketConn.WriteTo(p, to)
}

// isMedia tells RTP and RTCP from STUN and DTLS by the first byte (RFC 7983).
func isMedia(p []byte) bool { return len(p) > 0 && p[0] >= 128 && p[0] <= 191 }

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
