package relay

import (
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// A flood of requests without a credential is answered up to the rate; who has an allocation goes on.
//
// spec: PRE-03
func TestFloodWithoutCredentials(t *testing.T) {
	for drop, change := range map[Drop]func(*Config){
		DropAddressRate: func(c *Config) { c.AddressRequestsPerSecond = 10 },
		DropRequestRate: func(c *Config) { c.RequestsPerSecond = 10 },
	} {
		f := start(t, change)
		f.freeze()
		s := f.speaker(t, "", "")
		s.username, s.password = credentials(turnrest.Test, "alice")
		require.Zero(t, s.allocate()) // two requests
		flood := f.speaker(t, "", "")
		for range 100 {
			_, err := flood.conn.Write(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest)).Raw)
			require.NoError(t, err)
		}
		require.Zero(t, s.ask(stun.MethodRefresh), "behind the flood")
		require.Equal(t, int64(100-(10*burstSeconds-2)), f.counts.Dropped[drop].Load())
		for range 10*burstSeconds - 2 {
			require.Equal(t, 401, code(flood.receive()))
		}
	}
}

// Addresses of IPv6 count by their /64.
func TestNetworksOfClients(t *testing.T) {
	require.Equal(t, "9.9.9.9/32", network(netip.MustParseAddr("9.9.9.9")).String())
	require.Equal(t, "2001:db8:1:2::/64", network(netip.MustParseAddr("2001:db8:1:2:3::4%eth0")).String())
	f := start(t, func(c *Config) { c.AddressRequestsPerSecond = 1 })
	now := time.Now()
	for range burstSeconds {
		require.Empty(t, f.throttle(netip.MustParseAddr("2001:db8::1"), now))
	}
	require.Equal(t, DropAddressRate, f.throttle(netip.MustParseAddr("2001:db8::2"), now))
	require.Empty(t, f.throttle(netip.MustParseAddr("2001:db8:0:1::1"), now))
}

func TestPacketsThatAreNoTURN(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	for _, p := range [][]byte{{1}, []byte("GET / HTTP/1.1\r\n\r\n"), make([]byte, 19), make([]byte, 20)} {
		_, err := s.conn.Write(p)
		require.NoError(t, err)
	}
	_, err := s.conn.Write([]byte{0x40, 0, 0, 0})
	require.NoError(t, err)
	eventually(t, func() bool {
		return f.counts.Dropped[DropForm].Load() == 4 && f.counts.Dropped[DropNoRelay].Load() == 1
	})
	require.Equal(t, stun.BindingSuccess, s.send(stun.MustBuild(stun.TransactionID, stun.BindingRequest)).Type, "it goes on")
}

// A stream whose frames are not TURN's is closed: lengths that overflow, other protocols, too long ones.
func TestStreamsThatAreNoTURN(t *testing.T) {
	f := start(t, nil)
	overflow := make([]byte, headerBytes)
	copy(overflow, []byte{0, 3, 0xFF, 0xEC, 0x21, 0x12, 0xA4, 0x42}) // 65516 and a header are 65536
	for _, p := range [][]byte{overflow, {0x40, 0, 0xFF, 0xFD}, []byte("GET / HTTP/1.1\r\n\r\n"), {0x40, 0, 0x06, 0x40}} {
		conn, err := net.Dial("tcp", f.tcp)
		require.NoError(t, err)
		_, err = conn.Write(p)
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the server closes it")
		require.NoError(t, conn.Close())
	}
	eventually(t, func() bool { f.mu.RLock(); defer f.mu.RUnlock(); return f.connected == 0 && len(f.conns) == 0 })
}

// spec: PRE-03
func TestConnectionsAreBounded(t *testing.T) {
	for scope, change := range map[Scope]func(*Config){
		ScopeAddress: func(c *Config) { c.AddressConnections = 2 },
		ScopeAll:     func(c *Config) { c.Connections = 2 },
	} {
		f := start(t, change)
		one, _ := f.dial(t, TCP)
		f.dial(t, TCP)
		eventually(t, func() bool { f.mu.RLock(); defer f.mu.RUnlock(); return f.connected == 2 })
		third, err := net.Dial("tcp", f.tcp)
		require.NoError(t, err)
		require.NoError(t, third.SetReadDeadline(time.Now().Add(patience)))
		_, err = third.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, third.Close())
		require.Equal(t, int64(1), f.counts.Connections[scope].Load())
		require.NoError(t, one.Close())
		eventually(t, func() bool { f.mu.RLock(); defer f.mu.RUnlock(); return f.connected == 1 })
		f.allocate(t, TCP, turnrest.Test, "alice")
	}
}

// Close ends what is open, and refuses what comes after it.
func TestClose(t *testing.T) {
	f := start(t, nil)
	f.allocate(t, UDP, turnrest.Test, "alice")
	f.allocate(t, TLS, turnrest.Call, "alice")
	f.Close()
	require.Equal(t, int64(2), f.counts.Ended[EndStop].Load())
	require.Zero(t, f.Held(turnrest.Test)+f.Held(turnrest.Call))
	f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, f.ServeListener(l, TCP), net.ErrClosed)
	require.ErrorIs(t, f.ServePacket(sink(t)), net.ErrClosed)
}
