package qoswssreceiver

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// seenFrom is the network that a request is counted by; "" where it is not known.
func seenFrom(tb testing.TB, cfg *Config, peer string, lines ...string) string {
	tb.Helper()
	a, err := newAddresses(cfg)
	require.NoError(tb, err)
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	network := networkOf(a.client(&http.Request{RemoteAddr: peer, Header: header}))
	if !network.IsValid() {
		return ""
	}
	return network.String()
}

func behindProxies(header string, proxies ...string) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.TrustedProxies = proxies
	if header != "" {
		cfg.ForwardedHeader = header
	}
	return cfg
}

// spec: SRV-01
func TestAddressWithoutProxy(t *testing.T) {
	f := func(want, peer string, lines ...string) {
		t.Helper()
		require.Equal(t, want, seenFrom(t, behindProxies(""), peer, lines...))
	}
	f("192.0.2.1/32", "192.0.2.1:5000")
	f("2001:db8:1:2::/64", "[2001:db8:1:2:3:4:5:6]:5000")
	f("192.0.2.1/32", "[::ffff:192.0.2.1]:5000")
	f("192.0.2.1/32", "[64:ff9b::c000:201]:5000")
	f("fe80::/64", "[fe80::1%eth0]:5000")
	f("192.0.2.1/32", "192.0.2.1:5000", "X-Forwarded-For: 9.9.9.9") // nobody is trusted
	f("192.0.2.1/32", "192.0.2.1:5000", "Forwarded: for=9.9.9.9")
	// A peer on this machine may be a proxy that nobody listed: one bucket for all its
	// clients would lock them out together.
	f("", "127.0.0.1:5000", "X-Forwarded-For: 9.9.9.9")
	f("", "[::1]:5000")
	f("", "@") // a Unix socket

	cfg := behindProxies("")
	cfg.BehindTLSProxy = true
	require.Empty(t, seenFrom(t, cfg, "192.0.2.1:5000", "X-Forwarded-For: 9.9.9.9"))
}

// What the client writes itself never counts: only what trusted proxies appended does.
//
// spec: SRV-01
func TestAddressBehindProxies(t *testing.T) {
	f := func(want, peer string, lines ...string) {
		t.Helper()
		require.Equal(t, want, seenFrom(t, behindProxies("", "10.0.0.0/8", "127.0.0.1", "2001:db8:ffff::/48"), peer, lines...))
	}
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 203.0.113.5")
	f("203.0.113.5/32", "127.0.0.1:443", "X-Forwarded-For: 203.0.113.5")
	f("203.0.113.5/32", "[::ffff:10.0.0.1]:443", "X-Forwarded-For: ::ffff:203.0.113.5")
	f("203.0.113.5/32", "[2001:db8:ffff::1]:443", "X-Forwarded-For: 203.0.113.5, 10.2.3.4,10.0.0.7")
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 203.0.113.5:61000")
	f("2001:db8:0:1::/64", "10.0.0.1:443", "X-Forwarded-For: [2001:db8:0:1::9]:61000")
	f("2001:db8:0:1::/64", "10.0.0.1:443", "X-Forwarded-For: [2001:db8:0:1::9]")
	f("203.0.113.5/32", "@", "X-Forwarded-For: 203.0.113.5") // by a Unix socket

	// Spoofing.
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 9.9.9.9, 203.0.113.5")
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 9.9.9.9", "X-Forwarded-For: 203.0.113.5")
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 10.0.0.2, 203.0.113.5")
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 203.0.113.5", "Forwarded: for=9.9.9.9")
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: 203.0.113.5", "X-Real-Ip: 9.9.9.9")
	f("203.0.113.5/32", "203.0.113.5:443", "X-Forwarded-For: 9.9.9.9") // past the proxy
	f("203.0.113.5/32", "10.0.0.1:443", "X-Forwarded-For: nonsense\", 203.0.113.5")

	// What cannot be read ends the walk where it was.
	for _, broken := range []string{"unknown", "", " ", "203.0.113.5 9.9.9.9", "[203.0.113.5", "203.0.113.5]", "1.2.3.4.5", "203.0.113.05"} {
		f("10.0.0.2/32", "10.0.0.1:443", "X-Forwarded-For: 9.9.9.9, "+broken+", 10.0.0.2")
	}
	f("10.0.0.1/32", "10.0.0.1:443")
	f("10.0.0.3/32", "10.0.0.1:443", "X-Forwarded-For: 10.0.0.3, 10.0.0.2") // nobody from outside
	f("10.0.0.9/32", "10.0.0.1:443", "X-Forwarded-For: 9.9.9.9"+strings.Repeat(", 10.0.0.9", 1000))
}

// spec: SRV-01
func TestAddressForwarded(t *testing.T) {
	f := func(want string, lines ...string) {
		t.Helper()
		require.Equal(t, want, seenFrom(t, behindProxies("forwarded", "10.0.0.0/8"), "10.0.0.1:443", lines...))
	}
	f("203.0.113.5/32", "Forwarded: for=203.0.113.5")
	f("203.0.113.5/32", `Forwarded: For="203.0.113.5:4711";proto=https;by=10.0.0.1`)
	f("2001:db8:0:1::/64", `Forwarded: proto=https; for="[2001:db8:0:1::9]:4711"`)
	f("203.0.113.5/32", "Forwarded: for=9.9.9.9, for=203.0.113.5, for=10.0.0.4")
	f("203.0.113.5/32", "Forwarded: for=9.9.9.9", "Forwarded: for=203.0.113.5")
	f("203.0.113.5/32", `Forwarded: for="9.9.9.9, for=203.0.113.5`)
	f("203.0.113.5/32", "Forwarded: for=203.0.113.5", "X-Forwarded-For: 9.9.9.9")
	for _, broken := range []string{
		"for=unknown", "for=_hidden", "by=203.0.113.5", "203.0.113.5", "for=9.9.9.9;for=203.0.113.5",
		`for=203.0.113.5;host="a,for=9.9.9.9"`,
	} {
		f("10.0.0.1/32", "Forwarded: "+broken)
	}
}

// Whatever a client writes into the header, it is counted by the address that the proxy saw.
func TestAddressCannotBeChosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forged := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9a-f:.,";= for\[\]]{0,60}`)).Draw(t, "forged")
		for header, element := range map[string]string{headerXForwardedFor: "", headerForwarded: "for="} {
			a, err := newAddresses(behindProxies(header, "10.0.0.0/8"))
			if err != nil {
				t.Fatal(err)
			}
			seen := networkOf(a.client(&http.Request{RemoteAddr: "10.0.0.1:443", Header: http.Header{
				header: {forged + ", " + element + "203.0.113.5"},
			}}))
			if seen != netip.MustParsePrefix("203.0.113.5/32") {
				t.Fatalf("%s: %q made it %v", header, forged, seen)
			}
		}
	})
}

// Any bytes at all are read without a fault.
func FuzzAddress(f *testing.F) {
	f.Add("1.2.3.4:5", "9.9.9.9, [::1]:4", `for="[::1]:4"`)
	f.Fuzz(func(t *testing.T, peer, forwardedFor, forwarded string) {
		for _, header := range []string{headerXForwardedFor, headerForwarded} {
			a, err := newAddresses(behindProxies(header, "10.0.0.0/8", "fd00::/8"))
			require.NoError(t, err)
			networkOf(a.client(&http.Request{RemoteAddr: peer, Header: http.Header{
				headerXForwardedFor: {forwardedFor}, headerForwarded: {forwarded},
			}}))
		}
	})
}
