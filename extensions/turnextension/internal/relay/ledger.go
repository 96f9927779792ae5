package relay

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// Quota bounds allocations and the bytes that they relay, both directions together.
type Quota struct {
	Allocations    int   // at one time, at least 1
	BytesPerSecond int64 // 0: unlimited
	BytesPerHour   int64 // 0: unlimited
}

// Limits are those of one kind of credentials.
type Limits struct {
	Lifetime         time.Duration // of an allocation, however often it is refreshed
	PerUser, Overall Quota
}

// maxUsers bounds the users whose use is counted at one time. A further one is refused.
const maxUsers = 100_000

// ledger counts what users hold and send. Safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	limits  map[turnrest.Kind]Limits
	overall map[turnrest.Kind]*account
	users   map[turnrest.Subject]*account
}

// account is the use of one user, or of all of one kind.
type account struct {
	quota Quota
	rate  *rate.Limiter // nil: unlimited
	held  int           // under ledger.mu

	mu    sync.Mutex
	since time.Time // of the bytes
	bytes int64
}

// lease is the right to one allocation.
type lease struct {
	ledger        *ledger
	user, overall *account
}

func newLedger(limits map[turnrest.Kind]Limits) *ledger {
	l := &ledger{limits: limits, overall: map[turnrest.Kind]*account{}, users: map[turnrest.Subject]*account{}}
	for kind, limit := range limits {
		l.overall[kind] = newAccount(limit.Overall)
	}
	return l
}

func newAccount(q Quota) *account {
	a := &account{quota: q}
	if q.BytesPerSecond > 0 {
		a.rate = rate.NewLimiter(rate.Limit(q.BytesPerSecond), int(max(q.BytesPerSecond, maxPacketBytes))) // a second of it at once
	}
	return a
}

// check says why a user may not have one more allocation; empty: it may.
func (l *ledger) check(subject turnrest.Subject, now time.Time) Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuse(l.users[subject], subject.Kind, now)
}

func (l *ledger) refuse(user *account, kind turnrest.Kind, now time.Time) Refusal {
	overall := l.overall[kind]
	switch {
	case user == nil && len(l.users) >= maxUsers:
		return RefusedUsers
	case user != nil && user.held >= user.quota.Allocations:
		return RefusedUserAllocations
	case user != nil && user.exhausted(now):
		return RefusedUserBytes
	case overall.held >= overall.quota.Allocations:
		return RefusedAllocations
	case overall.exhausted(now):
		return RefusedBytes
	}
	return ""
}

// take counts one more allocation of a user.
func (l *ledger) take(subject turnrest.Subject, now time.Time) (*lease, Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	user := l.users[subject]
	if refusal := l.refuse(user, subject.Kind, now); refusal != "" {
		return nil, refusal
	}
	if user == nil {
		user = newAccount(l.limits[subject.Kind].PerUser)
		l.users[subject] = user
	}
	overall := l.overall[subject.Kind]
	user.held++
	overall.held++
	return &lease{l, user, overall}, ""
}

// giveBack ends a lease.
func (l *lease) giveBack() {
	l.ledger.mu.Lock()
	defer l.ledger.mu.Unlock()
	l.user.held--
	l.overall.held--
}

// held is the number of allocations of a kind.
func (l *ledger) held(kind turnrest.Kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if overall, ok := l.overall[kind]; ok {
		return overall.held
	}
	return 0
}

// sweep forgets users without allocations whose hour has ended.
func (l *ledger) sweep(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for subject, user := range l.users {
		if user.held == 0 && user.idle(now) {
			delete(l.users, subject)
		}
	}
}

// verdict is what becomes of a packet.
type verdict int

const (
	pass verdict = iota
	dropForUser
	dropForAll
	exhausted // no byte more in this hour
)

// charge counts a packet.
func (l *lease) charge(n int, now time.Time) verdict {
	switch {
	case l.user.exhausted(now) || l.overall.exhausted(now):
		return exhausted
	case l.user.rate != nil && !l.user.rate.AllowN(now, n):
		return dropForUser
	case l.overall.rate != nil && !l.overall.rate.AllowN(now, n):
		return dropForAll
	}
	l.user.add(n, now)
	l.overall.add(n, now)
	return pass
}

// add counts bytes. An hour begins with its first byte.
func (a *account) add(n int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.since) >= time.Hour {
		a.since, a.bytes = now, 0
	}
	a.bytes += int64(n)
}

func (a *account) exhausted(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.quota.BytesPerHour > 0 && a.bytes >= a.quota.BytesPerHour && now.Sub(a.since) < time.Hour
}

func (a *account) idle(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Sub(a.since) >= time.Hour
}
