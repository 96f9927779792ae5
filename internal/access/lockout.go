package access

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/throttle"
)

// Limits of failed attempts. Each forgives with time.
var (
	// failuresOfPair are those of a user from one network: 5, then one a minute.
	failuresOfPair = throttle.Rate{Interval: time.Minute, Burst: 5}
	// failuresOfNetwork are those from one network, of any users: 30, then one in 10 s.
	failuresOfNetwork = throttle.Rate{Interval: 10 * time.Second, Burst: 30}
	// failuresOfUser are those of a user from anywhere: 60, then one in 20 s.
	failuresOfUser = throttle.Rate{Interval: 20 * time.Second, Burst: 60}
)

// maxLockouts bounds the users and networks that are remembered.
const maxLockouts = 16 << 10

// Lockout limits failed attempts by user and network of addresses. It is safe for concurrent use.
type Lockout struct {
	hash  throttle.Hash
	table *throttle.Table
}

// NewLockout returns one.
func NewLockout(start time.Time) *Lockout {
	return &Lockout{hash: throttle.NewHash(), table: throttle.NewTable(maxLockouts, start)}
}

type limit struct {
	key  throttle.Key
	rate throttle.Rate
}

// limits returns those of an attempt. Without a user there is nothing to guess about one, and nobody
// must be able to use up a limit that others share: it has the limit of the network only.
func (l *Lockout) limits(user string, network netip.Prefix) []limit {
	from := max(1, l.hash.Network(network))
	all := []limit{{l.hash.Of("network", "", from), failuresOfNetwork}}
	if user == "" {
		return all
	}
	return append(all, limit{l.hash.Of("pair", user, from), failuresOfPair}, limit{l.hash.Of("user", user, 0), failuresOfUser})
}

// Begin counts an attempt as failed before it is checked, so that attempts at the same time count, too.
// The user is empty for an attempt by a link or at an identity provider. It returns how long the attempt has to wait; 0: not at all. One that waits is not counted.
func (l *Lockout) Begin(user string, network netip.Prefix, now time.Time) (wait time.Duration) {
	for _, one := range l.limits(user, network) {
		wait = max(wait, l.table.Check(one.key, one.rate, now))
	}
	if wait > 0 {
		return wait
	}
	for _, one := range l.limits(user, network) {
		l.table.Charge(one.key, one.rate, now)
	}
	return 0
}

// NotFailed takes back an attempt that was right, or was not checked.
func (l *Lockout) NotFailed(user string, network netip.Prefix) {
	for _, one := range l.limits(user, network) {
		l.table.GiveBack(one.key, one.rate)
	}
}

// tokenLimit is that of wrong API tokens from a network. It is another one than that of wrong passwords, so
// a program with an old token locks nobody out.
func (l *Lockout) tokenLimit(network netip.Prefix) limit {
	return limit{l.hash.Of("token", "", max(1, l.hash.Network(network))), failuresOfNetwork}
}

// TokenWait returns how long a request with an API token has to wait; 0: not at all.
func (l *Lockout) TokenWait(network netip.Prefix, now time.Time) time.Duration {
	one := l.tokenLimit(network)
	return l.table.Check(one.key, one.rate, now)
}

// WrongToken counts a request with a wrong API token.
func (l *Lockout) WrongToken(network netip.Prefix, now time.Time) {
	one := l.tokenLimit(network)
	l.table.Charge(one.key, one.rate, now)
}

// Class returns the class of a network for a gate.
func (l *Lockout) Class(network netip.Prefix) throttle.Key { return l.hash.Network(network) }

// Network returns the network that a request comes from: an IPv4 address, or the /64 of an IPv6
// address. Addresses that trusted proxies append to X-Forwarded-For count, no others. It is not
// valid where there is none, on a Unix socket for example.
func Network(r *http.Request, trusted []netip.Prefix) netip.Prefix {
	at := hop(r.RemoteAddr)
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && contains(trusted, at); i-- {
		next := hop(strings.TrimSpace(forwarded[i]))
		if !next.IsValid() {
			break
		}
		at = next
	}
	bits := 64
	if at.Is4() {
		bits = 32
	}
	network, _ := at.Prefix(bits) // not valid where at is not
	return network
}

func hop(text string) netip.Addr {
	if port, err := netip.ParseAddrPort(text); err == nil {
		return port.Addr().Unmap().WithZone("")
	}
	addr, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone("")
}

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if addr.IsValid() && n.Contains(addr) {
			return true
		}
	}
	return false
}
