package access

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fail makes attempts until one has to wait, and returns their number and how long it has to.
func fail(l *Lockout, s Source, now time.Time) (n int, wait time.Duration) {
	for ; n < 1000; n++ {
		if wait = l.Begin(s, now); wait > 0 {
			return n, wait
		}
	}
	return n, 0
}

// spec: DASH-03
func TestLockout(t *testing.T) {
	home, away := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	l := NewLockout(t0)
	n, wait := fail(l, Source{User: "ada", Network: home}, t0)
	require.Equal(t, 5, n)
	require.Equal(t, time.Minute, wait)
	n, _ = fail(l, Source{User: "ada", Network: home}, t0.Add(time.Minute))
	require.Equal(t, 1, n, "time forgives")
	n, _ = fail(l, Source{User: "ada", Network: away}, t0)
	require.Equal(t, 5, n, "the user can sign in from elsewhere")
	n, _ = fail(l, Source{User: "bob", Network: home}, t0)
	require.Equal(t, 5, n, "others of the network can sign in")
	n, _ = fail(l, Source{User: "ada", Network: home}, t0.Add(24*time.Hour))
	require.Equal(t, 5, n, "all is forgiven, and not saved up")
}

// The wait is the true one, however often it is asked for, and whatever limit causes it.
//
// spec: DASH-03
func TestWaitIsKept(t *testing.T) {
	network := func(n int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 1}), 32)
	}
	for name, attempt := range map[string]func(n int) Source{
		"pair":    func(int) Source { return Source{User: "ada", Network: network(0)} },
		"network": func(n int) Source { return Source{User: string(rune('a' + n)), Network: network(0)} },
		"user":    func(n int) Source { return Source{User: "ada", Network: network(n)} },
		"device":  func(int) Source { return Source{User: "ada", Device: "x"} },
		"link":    func(int) Source { return Source{Network: network(0)} },
	} {
		l, n := NewLockout(t0), 0
		for ; l.Begin(attempt(n), t0) == 0; n++ {
		}
		wait := l.Begin(attempt(n), t0.Add(time.Second))
		for range 20 {
			require.Equal(t, wait, l.Begin(attempt(n), t0.Add(time.Second)), name)
		}
		require.LessOrEqual(t, wait, time.Minute)
		require.Positive(t, l.Begin(attempt(n), t0.Add(time.Second+wait-time.Nanosecond)), name)
		require.Zero(t, l.Begin(attempt(n), t0.Add(time.Second+wait)), name)
	}
}

func TestLockoutOfANetworkAndOfAUser(t *testing.T) {
	l, home := NewLockout(t0), netip.MustParsePrefix("192.0.2.1/32")
	names, from := 0, 0
	for ; names < 1000 && l.Begin(Source{User: "user" + string(rune('a'+names)), Network: home}, t0) == 0; names++ {
	}
	require.Equal(t, 30, names, "one network that tries many users")
	for ; from < 1000; from++ {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(from >> 8), byte(from), 1}), 32)
		if l.Begin(Source{User: "ada", Network: network}, t0) > 0 {
			break
		}
	}
	require.Equal(t, 60, from, "one user who is tried from many networks")
}

// An owner of an IPv6 /48 has as many tries as an owner of few addresses, locks no user out elsewhere, and does not
// exhaust the limits of all users either.
//
// spec: DASH-03
func TestOwnerOfManyNetworks(t *testing.T) {
	l := NewLockout(t0)
	owned := func(n int) netip.Prefix {
		address := netip.MustParseAddr("2001:db8:7::").As16()
		address[6], address[7] = byte(n>>8), byte(n)
		return netip.PrefixFrom(netip.AddrFrom16(address), 64)
	}
	away := Source{User: "ada", Network: netip.MustParsePrefix("198.51.100.7/32")}
	now, tried := t0, 0
	for n := range 600 { // an hour, in which it tries all the time
		for range 20 {
			if l.Begin(Source{User: "ada", Network: owned(n * 97 % 65536)}, now) == 0 {
				tried++
			}
		}
		require.Zero(t, l.Begin(away, now), "the user signs in elsewhere, after %v", now.Sub(t0))
		l.NotFailed(away)
		now = now.Add(6 * time.Second)
	}
	require.LessOrEqual(t, tried, 10+60)

	l = NewLockout(t0)
	users := 0
	for n := range 2000 {
		if l.Begin(Source{User: "user" + string(rune('a'+n)), Network: owned(n)}, t0) == 0 {
			users++
		}
	}
	require.Equal(t, 120, users)
}

// A device that is known is not locked out by attempts from elsewhere, and gives no more tries itself: neither the
// one whose cookie was stolen nor those whose cookies were forged.
//
// spec: DASH-03
func TestKnownDevices(t *testing.T) {
	l, home := NewLockout(t0), netip.MustParsePrefix("192.0.2.1/32")
	for n := range 2000 { // from everywhere, and from the network of the device
		l.Begin(Source{User: "ada", Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 1}), 32)}, t0)
		l.Begin(Source{User: "ada", Network: home}, t0)
		l.Begin(Source{User: "eve", Network: home}, t0)
	}
	require.Positive(t, l.Begin(Source{User: "ada", Network: home}, t0))
	device := Source{User: "ada", Network: home, Device: "laptop"}
	n, wait := fail(l, device, t0)
	require.Equal(t, 10, n)
	require.Equal(t, time.Minute, wait)
	require.Zero(t, l.Begin(device, t0.Add(time.Minute)))
	n, _ = fail(l, Source{User: "ada", Network: home, Device: "phone"}, t0)
	require.Equal(t, 10, n, "another device has its own limit")
	forged := 0
	for n := range 1000 {
		if l.Begin(Source{User: "bob", Device: "forged" + string(rune('a'+n))}, t0) == 0 {
			forged++
		}
	}
	require.Equal(t, 60, forged)
}

func TestSuccessIsNoFailure(t *testing.T) {
	l := NewLockout(t0)
	for _, home := range []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")} {
		for _, s := range []Source{{User: "ada", Network: home}, {User: "ada", Network: home, Device: "x"}, {Network: home}} {
			fresh, _ := fail(NewLockout(t0), s, t0)
			for range 1000 {
				require.Zero(t, l.Begin(s, t0))
				l.NotFailed(s)
			}
			n, _ := fail(l, s, t0)
			require.Equal(t, fresh, n)
			l = NewLockout(t0)
		}
	}
}

// Attempts without a user, by a link or at a provider, cannot block those of other networks.
//
// spec: DASH-03
func TestAttemptsWithoutAUser(t *testing.T) {
	l := NewLockout(t0)
	for n := range 100 {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n), 1}), 32)
		got, _ := fail(l, Source{Network: network}, t0)
		require.Equal(t, 30, got, "network %d", n)
	}
}
