package tlsserver

import (
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// conn is a connection of an address.
type conn struct {
	net.Conn
	address string
	closed  bool
}

func (c *conn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
}

func (c *conn) Close() error {
	c.closed = true
	return nil
}

// Connections that wait for a request make room for others; those with a request do not. An address has at most three
// quarters of the places, and a proxy all.
//
// spec: SRV-01, SRV-04
func TestConnections(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	c := newConnections(8, zap.New(core))
	open := func(address string) *conn {
		conn := &conn{address: address}
		c.stateChanged(conn, http.StateNew)
		return conn
	}
	var all []*conn
	for range 6 {
		all = append(all, open("203.0.113.1:1"))
	}
	require.True(t, open("203.0.113.1:2").closed, "it has its share")
	require.Equal(t, 1, logs.Len())
	require.NotContains(t, logs.All()[0].Message, "203.0.113.1")
	other := open("198.51.100.1:1")
	require.False(t, other.closed)
	proxy := open("10.0.0.1:1")
	require.False(t, proxy.closed)
	require.True(t, open("10.0.0.1:2").closed, "all have a request")
	require.Equal(t, 1, logs.Len(), "one line a minute")

	c.stateChanged(all[2], http.StateIdle)
	c.stateChanged(all[1], http.StateIdle)
	c.stateChanged(all[2], http.StateActive)
	c.stateChanged(all[2], http.StateIdle)
	require.False(t, open("10.0.0.1:3").closed)
	require.True(t, all[1].closed, "it waited longest")
	require.False(t, all[2].closed)
	c.stateChanged(all[1], http.StateClosed) // as the server reports afterwards
	require.False(t, open("10.0.0.1:4").closed)
	require.True(t, all[2].closed)
	for _, conn := range append(all, other, proxy) {
		c.stateChanged(conn, http.StateClosed)
	}
	c.stateChanged(all[0], http.StateHijacked)
	require.Len(t, c.open, 2, "those of the proxy")
	taken, holders := c.places.Taken()
	require.Equal(t, 2, taken)
	require.Equal(t, 1, holders, "the proxy")
	require.Zero(t, c.idle.Len())
}

func TestAddressOf(t *testing.T) {
	f := func(want, peer string) {
		t.Helper()
		got := addressOf(&conn{address: peer})
		require.Equal(t, want != "", got.IsValid())
		if want != "" {
			require.Equal(t, netip.MustParseAddr(want), got)
		}
	}
	f("203.0.113.1", "203.0.113.1:443")
	f("203.0.113.1", "[::ffff:203.0.113.1]:443")
	f("2001:db8:1:2::", "[2001:db8:1:2:3:4:5:6]:443")
	f("", "127.0.0.1:443")
	f("", "192.168.1.1:443")
	f("", "[::1]:443")
	f("", "[fe80::1]:443")
}
