package access

import (
	"net/netip"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/serve/throttle"
)

// Limits of failed attempts. Each forgives with time. Those of networks are for a host and the wider networks that
// it may be in, the narrowest first (owners): an owner of an IPv6 /48 has 65,536 networks of hosts.
var (
	// failuresOfPair are those of a user from one network: 5, then one a minute; 10 from the widest.
	failuresOfPair = []throttle.Rate{{Interval: time.Minute, Burst: 5}, {Interval: time.Minute, Burst: 8}, {Interval: time.Minute, Burst: 10}}
	// failuresOfNetwork are those from one network, of any users: 30, then one in 10 s; 120 from the widest.
	failuresOfNetwork = []throttle.Rate{{Interval: 10 * time.Second, Burst: 30}, {Interval: 5 * time.Second, Burst: 60}, {Interval: 2500 * time.Millisecond, Burst: 120}}
	// failuresOfUser are those of a user from anywhere: 60, then one in 20 s. Devices that are known have them apart.
	failuresOfUser = throttle.Rate{Interval: 20 * time.Second, Burst: 60}
	// failuresOfDevice are those of a user on a device that is known: 10, then one a minute.
	failuresOfDevice = throttle.Rate{Interval: time.Minute, Burst: 10}
)

// maxLockouts bounds the users, devices and networks that are remembered. An attempt from IPv6 has up to 7.
const maxLockouts = 64 << 10

// Lockout limits failed attempts by user, device and network of addresses. It is safe for concurrent use.
type Lockout struct {
	hash  throttle.Hash
	table *throttle.Table
	begin sync.Mutex // an attempt is checked and counted at once
}

// NewLockout returns one.
func NewLockout(start time.Time) *Lockout {
	return &Lockout{hash: throttle.NewHash(), table: throttle.NewTable(maxLockouts, start)}
}

// Source is where an attempt comes from.
type Source struct {
	User    string       // whom it claims to be; empty: an attempt by a link or at an identity provider
	Network netip.Prefix // see Network
	// Device is the ID of a device on which the user has signed in (DeviceKeys.Device); empty: it is not known.
	Device string
}

type limit struct {
	key  throttle.Key
	rate throttle.Rate
}

// limits returns those of an attempt. A device that is known has its own, which attempts from elsewhere do not use
// up. Without a user there is nothing to guess about one, and nobody must be able to use up a limit that others
// share: it has the limits of the networks only.
func (l *Lockout) limits(s Source) []limit {
	if s.Device != "" {
		return []limit{
			{l.hash.Of("device", s.Device, 0), failuresOfDevice},
			{l.hash.Of("devices", s.User, 0), failuresOfUser}, // who forges cookies has no more tries than others
		}
	}
	all := l.ofNetworks("network", "", s.Network, failuresOfNetwork)
	if s.User == "" {
		return all
	}
	all = append(all, l.ofNetworks("pair", s.User, s.Network, failuresOfPair)...)
	return append(all, limit{l.hash.Of("user", s.User, 0), failuresOfUser})
}

func (l *Lockout) ofNetworks(kind, user string, network netip.Prefix, rates []throttle.Rate) (all []limit) {
	for i, wider := range owners(network) {
		all = append(all, limit{l.hash.Of(kind, user, max(1, l.hash.Network(wider))), rates[i]})
	}
	return all
}

// Begin counts an attempt as failed before it is checked, so that attempts at the same time count, too. It returns
// how long the attempt has to wait, at most a minute; 0: not at all. One that waits is not counted. After the wait it
// is let in, unless others who share a limit were faster: a device that is known shares its limit with nobody.
func (l *Lockout) Begin(s Source, now time.Time) (wait time.Duration) {
	limits := l.limits(s)
	l.begin.Lock()
	defer l.begin.Unlock()
	if wait = l.wait(limits, now); wait > 0 {
		return wait
	}
	for _, one := range limits {
		l.table.Charge(one.key, one.rate, now)
	}
	return 0
}

func (l *Lockout) wait(limits []limit, now time.Time) (wait time.Duration) {
	for _, one := range limits {
		wait = max(wait, l.table.Wait(one.key, one.rate, now))
	}
	return wait
}

// NotFailed takes back an attempt that was right, or was not checked.
func (l *Lockout) NotFailed(s Source) {
	for _, one := range l.limits(s) {
		l.table.GiveBack(one.key, one.rate)
	}
}

// tokenLimits are those of wrong API tokens from a network. They are others than those of wrong passwords, so a
// program with an old token locks nobody out.
func (l *Lockout) tokenLimits(network netip.Prefix) []limit {
	return l.ofNetworks("token", "", network, failuresOfNetwork)
}

// TokenWait returns how long a request with an API token has to wait; 0: not at all.
func (l *Lockout) TokenWait(network netip.Prefix, now time.Time) time.Duration {
	return l.wait(l.tokenLimits(network), now)
}

// WrongToken counts a request with a wrong API token.
func (l *Lockout) WrongToken(network netip.Prefix, now time.Time) {
	for _, one := range l.tokenLimits(network) {
		l.table.Charge(one.key, one.rate, now)
	}
}

// Class returns the class of a network for a gate: networks that may have one owner are one.
func (l *Lockout) Class(network netip.Prefix) throttle.Key {
	wider := owners(network)
	return l.hash.Network(wider[len(wider)-1])
}

// Applicant returns for whom the password of an attempt is computed.
func (l *Lockout) Applicant(s Source) Applicant {
	if s.Device != "" {
		return Applicant{Class: l.hash.Of("devices", s.User, 0), Known: true} // a user may have many
	}
	return Applicant{Class: l.Class(s.Network)}
}
