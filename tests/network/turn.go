package network

import (
	"net"
	"sync"
	"testing"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
)

// The credentials of all TURN servers of this package.
const (
	TURNUser     = "tests"
	TURNPassword = "tests-secret"
	turnRealm    = "qos"
)

// ServeTURN starts a TURN server, which ends with the test or by stop.
func ServeTURN(t *testing.T, config turn.ServerConfig) (stop func()) {
	t.Helper()
	config.Realm = turnRealm
	config.AuthHandler = func(user, realm string, _ net.Addr) ([]byte, bool) {
		return turn.GenerateAuthKey(user, realm, TURNPassword), user == TURNUser
	}
	server, err := turn.NewServer(config)
	require.NoError(t, err)
	stop = sync.OnceFunc(func() { require.NoError(t, server.Close()) })
	t.Cleanup(stop)
	return stop
}

// OnLoopback generates relay addresses on loopback.
func OnLoopback() *turn.RelayAddressGeneratorStatic {
	return &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}
}

// startTURN starts a TURN server over UDP without harm.
func startTURN(t *testing.T) *net.UDPAddr {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	ServeTURN(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: socket, RelayAddressGenerator: OnLoopback()}},
	})
	return socket.LocalAddr().(*net.UDPAddr)
}

// IsMedia distinguishes RTP and RTCP from STUN and DTLS by the first byte (RFC 7983).
func IsMedia(p []byte) bool { return len(p) > 0 && p[0] >= 128 && p[0] <= 191 }
