package access

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNetwork(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	f := func(want, remote string, forwarded ...string) {
		t.Helper()
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": forwarded}}
		if remote == "@" {
			require.False(t, Network(r, nil).IsValid(), "no proxy is trusted")
		}
		got := Network(r, proxies)
		if want == "" {
			require.False(t, got.IsValid(), got)
			return
		}
		require.Equal(t, want, got.String())
	}
	f("192.0.2.7/32", "192.0.2.7:1")
	f("192.0.2.7/32", "[::ffff:192.0.2.7]:1")
	f("2001:db8:1:2::/64", "[2001:db8:1:2:3:4:5:6]:1")
	f("192.0.2.7/32", "192.0.2.7:1", "198.51.100.1") // it is no proxy of ours
	f("198.51.100.1/32", "10.1.1.1:1", "198.51.100.1")
	f("198.51.100.1/32", "10.1.1.1:1", "203.0.113.9, 198.51.100.1") // the rest is the client's own text
	f("198.51.100.1/32", "10.1.1.1:1", "203.0.113.9", "198.51.100.1, 10.2.2.2")
	f("2001:db8::/64", "[::1]:1", "[2001:db8::5]:443")
	f("10.1.1.1/32", "10.1.1.1:1", "nonsense")
	f("10.1.1.1/32", "10.1.1.1:1")
	f("", "@") // a Unix socket
	f("", "@", "nonsense")
	f("198.51.100.1/32", "@", "203.0.113.9, 198.51.100.1")
	f("198.51.100.1/32", "@", "203.0.113.9, 198.51.100.1, 10.2.2.2")
}
