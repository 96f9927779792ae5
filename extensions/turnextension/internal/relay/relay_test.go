package relay

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// A test sends from one relay to another of the same user, over each transport.
//
// spec: PRE-03
func TestRelayToRelay(t *testing.T) {
	for _, transport := range []Transport{UDP, TCP, TLS} {
		for _, kind := range []turnrest.Kind{turnrest.Test, turnrest.Call} {
			t.Run(string(transport)+"/"+string(kind), func(t *testing.T) {
				f := start(t, nil)
				one, a := f.allocate(t, transport, kind, "alice")
				two, b := f.allocate(t, UDP, kind, "alice")
				require.NoError(t, one.CreatePermission(b.LocalAddr()))
				require.NoError(t, two.CreatePermission(a.LocalAddr()))
				for range 20 { // as indications, then over a channel
					_, err := a.WriteTo([]byte("there"), b.LocalAddr())
					require.NoError(t, err)
					text, from := receive(t, b)
					require.Equal(t, []string{"there", a.LocalAddr().String()}, []string{text, from})
					_, err = b.WriteTo([]byte("back again"), a.LocalAddr())
					require.NoError(t, err)
					text, from = receive(t, a)
					require.Equal(t, []string{"back again", b.LocalAddr().String()}, []string{text, from})
				}
				require.Equal(t, int64(20*15), f.counts.Bytes[Flow{kind, Sent}].Load())
				require.Equal(t, int64(20*15), f.counts.Bytes[Flow{kind, Received}].Load())
				require.Positive(t, f.counts.Allocations[Made{kind, transport}].Load())
				require.Equal(t, 2, f.Held(kind))
				require.NoError(t, a.Close())
				require.NoError(t, b.Close())
				eventually(t, func() bool { return f.Held(kind) == 0 })
				require.Equal(t, int64(2), f.counts.Ended[EndClient].Load())
			})
		}
	}
}

// sink is a peer that counts nothing but what arrives.
func sink(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Packets to other ports of the relay's address are dropped, one by one: permissions have no port.
//
// spec: PRE-03
func TestOtherPortsOfTheServer(t *testing.T) {
	for _, kind := range []turnrest.Kind{turnrest.Test, turnrest.Call} {
		t.Run(string(kind), func(t *testing.T) {
			f := start(t, nil)
			other := sink(t)
			client, conn := f.allocate(t, UDP, kind, "alice")
			require.NoError(t, client.CreatePermission(other.LocalAddr()))
			_, err := conn.WriteTo([]byte("secret service"), other.LocalAddr())
			require.NoError(t, err)
			eventually(t, func() bool { return f.counts.Dropped[DropPeer].Load() == 1 })
			_, err = other.WriteTo([]byte("answer"), conn.LocalAddr())
			require.NoError(t, err)
			eventually(t, func() bool { return f.counts.Dropped[DropPeer].Load() == 2 })
			require.Zero(t, f.counts.Bytes[Flow{kind, Sent}].Load()+f.counts.Bytes[Flow{kind, Received}].Load())

			s := f.speaker(t, "", "")
			s.username, s.password = credentials(kind, "alice")
			require.Zero(t, s.allocate())
			require.Equal(t, 401, s.ask(stun.MethodChannelBind, channelNumber(0x4000), peerAddress(addrPort(other.LocalAddr()))))
			require.Zero(t, s.ask(stun.MethodChannelBind, channelNumber(0x4000), peerAddress(addrPort(conn.LocalAddr()))), "a relay of the user")
		})
	}
}

// Relays of tests reach no relay of another user and none of calls; calls reach relays of all users.
//
// spec: PRE-03
func TestRelaysOfOthers(t *testing.T) {
	f := start(t, nil)
	_, test := f.allocate(t, UDP, turnrest.Test, "alice")
	_, call := f.allocate(t, UDP, turnrest.Call, "alice")
	bind := func(kind turnrest.Kind, user string, to net.Addr) int {
		s := f.speaker(t, "", "")
		s.username, s.password = credentials(kind, user)
		require.Zero(t, s.allocate())
		return s.ask(stun.MethodChannelBind, channelNumber(0x4000), peerAddress(addrPort(to)))
	}
	require.Zero(t, bind(turnrest.Test, "alice", test.LocalAddr()))
	require.Equal(t, 401, bind(turnrest.Test, "bob", test.LocalAddr()))
	require.Equal(t, 401, bind(turnrest.Test, "alice", call.LocalAddr()))
	require.Zero(t, bind(turnrest.Call, "bob", call.LocalAddr()))
	require.Equal(t, 401, bind(turnrest.Call, "bob", test.LocalAddr()))
}

// barred are peers that no credential reaches.
var barred = strings.Fields(`127.0.0.2 127.255.255.254 0.0.0.0 0.1.2.3 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 169.254.1.1 100.64.0.1
	224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 168.63.129.16 192.0.2.1 198.18.0.1
	::1 :: fe80::1 fd00:ec2::254 fc00::1 ff02::1 ::ffff:127.0.0.2 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 ::10.0.0.1
	2002:7f00:1:: 2002:a00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 2001::7f00:1 2001:0:a00:1::1`)

// spec: PRE-03
func TestBarredPeers(t *testing.T) {
	for _, kind := range []turnrest.Kind{turnrest.Test, turnrest.Call} {
		t.Run(string(kind), func(t *testing.T) {
			f := start(t, nil)
			client, _ := f.allocate(t, UDP, kind, "alice")
			s := f.speaker(t, "", "")
			s.username, s.password = credentials(kind, "alice")
			require.Zero(t, s.allocate())
			for i, ip := range barred {
				require.Error(t, client.CreatePermission(net.UDPAddrFromAddrPort(netip.AddrPort(peer(ip, 53)))), ip)
				require.NotZero(t, s.ask(stun.MethodCreatePermission, peer(ip, 53)), ip)
				require.Equal(t, 401, s.ask(stun.MethodChannelBind, channelNumber(0x4000+uint16(i)), peer(ip, 53)), ip)
			}
			require.Equal(t, int64(3*len(barred)), f.counts.Permissions.Load())
			public := map[turnrest.Kind]int{turnrest.Test: 401, turnrest.Call: 0}[kind]
			require.Equal(t, public, s.ask(stun.MethodChannelBind, channelNumber(0x5000), peer("9.9.9.9", 9)), "a public peer")
			require.Equal(t, public == 0, s.ask(stun.MethodCreatePermission, peer("9.9.9.9", 9)) == 0)
		})
	}
}

// A permission that is refused among others refuses all of them that follow; data passes for none.
func TestPermissionsInOneRequest(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Call, "alice")
	require.Zero(t, s.allocate())
	require.NotZero(t, s.ask(stun.MethodCreatePermission, peer("9.9.9.9", 9), peer("10.0.0.1", 9)))
	send := stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodSend, stun.ClassIndication), peer("10.0.0.1", 9),
		stun.RawAttribute{Type: stun.AttrData, Value: []byte("data")})
	_, err := s.conn.Write(send.Raw)
	require.NoError(t, err)
	require.Zero(t, s.ask(stun.MethodRefresh), "the indication was handled")
	require.Zero(t, f.counts.Bytes[Flow{turnrest.Call, Sent}].Load())
}

func TestAllowedNetworks(t *testing.T) {
	f := start(t, func(c *Config) { c.Allowed = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	other := sink(t)
	client, conn := f.allocate(t, UDP, turnrest.Call, "alice")
	require.NoError(t, client.CreatePermission(other.LocalAddr()))
	_, err := conn.WriteTo([]byte("hello"), other.LocalAddr())
	require.NoError(t, err)
	text, from := receive(t, other)
	require.Equal(t, []string{"hello", conn.LocalAddr().String()}, []string{text, from})
	_, err = other.WriteTo([]byte("answer"), conn.LocalAddr())
	require.NoError(t, err)
	text, from = receive(t, conn)
	require.Equal(t, []string{"answer", other.LocalAddr().String()}, []string{text, from})

	test, _ := f.allocate(t, UDP, turnrest.Test, "alice")
	require.Error(t, test.CreatePermission(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 2), Port: 9}), "allowed networks are for calls")
	require.Error(t, client.CreatePermission(&net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 9}))
}

// The server's own addresses are barred although they are public, and so are broadcasts of its networks.
func TestOwnAddresses(t *testing.T) {
	f := start(t, nil)
	own := netip.MustParseAddr("8.8.4.4")
	require.True(t, f.mayReach(turnrest.Call, own))
	f.mu.Lock()
	f.own[own] = true
	f.mu.Unlock()
	require.False(t, f.mayReach(turnrest.Call, own))
	require.False(t, f.mayReach(turnrest.Call, netip.AddrFrom16(own.As16())), "mapped")
	require.True(t, f.isOwn(netip.MustParseAddr("127.0.0.1")), "an interface's")
	for text, want := range map[string]string{"8.8.4.4/24": "8.8.4.255", "8.8.4.4/22": "8.8.7.255", "8.8.4.4/31": "8.8.4.4", "2606::1/64": "2606::1"} {
		require.Equal(t, want, broadcast(netip.MustParsePrefix(text)).String())
	}
}

func TestPermissionsAndChannelsAreBounded(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Call, "alice")
	require.Zero(t, s.allocate())
	for i := range maxChannels {
		require.Zero(t, s.ask(stun.MethodChannelBind, channelNumber(0x4000+uint16(i)), peer("9.9.9.9", uint16(i))))
	}
	require.Equal(t, 401, s.ask(stun.MethodChannelBind, channelNumber(0x4800), peer("9.9.9.9", 999)))
	require.Zero(t, s.ask(stun.MethodChannelBind, channelNumber(0x4000), peer("9.9.9.9", 0)), "a refresh")
	for i := range maxPermissions - 1 {
		require.Zero(t, s.ask(stun.MethodCreatePermission, peer(netip.AddrFrom4([4]byte{9, 9, 8, byte(i)}).String(), 9)))
	}
	require.NotZero(t, s.ask(stun.MethodCreatePermission, peer("9.9.7.1", 9)))
	require.Zero(t, s.ask(stun.MethodCreatePermission, peer("9.9.9.9", 9)), "a refresh")
	require.Zero(t, s.ask(stun.MethodRefresh, lifetime(0)))
	require.Zero(t, f.Held(turnrest.Call))
}
