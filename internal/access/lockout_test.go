package access

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fail makes attempts until one has to wait, and returns their number and how long it has to.
func fail(l *Lockout, user string, network netip.Prefix, now time.Time) (n int, wait time.Duration) {
	for ; n < 1000; n++ {
		if wait = l.Begin(user, network, now); wait > 0 {
			return n, wait
		}
	}
	return n, 0
}

// spec: DASH-03
func TestLockout(t *testing.T) {
	home, away := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	l := NewLockout(t0)
	n, wait := fail(l, "ada", home, t0)
	require.Equal(t, 5, n)
	require.Equal(t, time.Minute, wait)
	n, _ = fail(l, "ada", home, t0.Add(time.Minute))
	require.Equal(t, 1, n, "time forgives")
	n, _ = fail(l, "ada", away, t0)
	require.Equal(t, 5, n, "the user can sign in from elsewhere")
	n, _ = fail(l, "bob", home, t0)
	require.Equal(t, 5, n, "others of the network can sign in")
	n, _ = fail(l, "ada", home, t0.Add(24*time.Hour))
	require.Equal(t, 5, n, "all is forgiven, and not saved up")
}

func TestLockoutOfANetworkAndOfAUser(t *testing.T) {
	l, home := NewLockout(t0), netip.MustParsePrefix("192.0.2.1/32")
	names, from := 0, 0
	for ; names < 1000 && l.Begin("user"+string(rune('a'+names)), home, t0) == 0; names++ {
	}
	require.Equal(t, 30, names, "one network that tries many users")
	for ; from < 1000; from++ {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(from >> 8), byte(from), 1}), 32)
		if l.Begin("ada", network, t0) > 0 {
			break
		}
	}
	require.Equal(t, 60, from, "one user who is tried from many networks")
}

func TestSuccessIsNoFailure(t *testing.T) {
	l, home := NewLockout(t0), netip.MustParsePrefix("192.0.2.1/32")
	for range 1000 {
		require.Zero(t, l.Begin("ada", home, t0))
		l.NotFailed("ada", home)
	}
	n, _ := fail(l, "ada", home, t0)
	require.Equal(t, 5, n)
}

func TestNetwork(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	f := func(want, remote string, forwarded ...string) {
		t.Helper()
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": forwarded}}
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
	f("", "@")
}

// Attempts without a user, by a link or at a provider, cannot block those of other networks.
//
// spec: DASH-03
func TestAttemptsWithoutAUser(t *testing.T) {
	l := NewLockout(t0)
	for n := range 100 {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n), 1}), 32)
		got, _ := fail(l, "", network, t0)
		require.Equal(t, 30, got, "network %d", n)
	}
}
