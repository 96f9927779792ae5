package auth

import (
	"sync"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// What is remembered as used, for how long, and how much of it.
const (
	// A state that a collector with a faster clock made is good for up to twice as long.
	stateMemory   = 2 * protocol.SealedStateLifetime
	maxUsedStates = 1 << 16 // in each of two generations

	jtiMemory  = MaxSingleUseLifetime + 2*Leeway
	maxOfAnApp = 1 << 16 // in each of two generations
	maxOfAll   = 1 << 19
)

// usedNames remembers which names were used, so that none is good twice. It forgets the
// oldest when there are more than it has room for: what was overheard would then be good
// again for the rest of its life, at this collector. To refuse instead would let anybody
// shut everybody out.
type usedNames struct {
	keep time.Duration // how long a name is remembered at least
	most int           // names in each generation

	mu        sync.Mutex
	now, old  map[string]struct{}
	since     time.Time
	forgotten uint64
}

// use reports whether the name was not used before, and marks it.
func (u *usedNames) use(name string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, used := u.now[name]; used {
		return false
	}
	if _, used := u.old[name]; used {
		return false
	}
	if u.now == nil || u.expired(now) || len(u.now) == u.most {
		u.turn(now)
	}
	u.now[name] = struct{}{}
	return true
}

func (u *usedNames) expired(now time.Time) bool { return now.Sub(u.since) >= u.keep }

// turn forgets the older generation and begins a new one.
func (u *usedNames) turn(now time.Time) {
	if !u.expired(now) {
		u.forgotten += uint64(len(u.old))
	}
	u.old, u.now, u.since = u.now, make(map[string]struct{}), now
}

// size is how many names are remembered. The caller holds the lock.
func (u *usedNames) size() int { return len(u.now) + len(u.old) }

// usedByApp remembers names of each app apart: an app that uses up many has its own
// forgotten, not those of others. Only who proved to be of an app may use its names, so
// there are no more apps here than are registered.
type usedByApp struct {
	keep time.Duration
	most int // names of an app in each of two generations
	all  int // names of all apps

	mu        sync.Mutex
	apps      map[string]*usedNames
	held      int       // names of all apps, so that nobody has to count them
	tidied    time.Time // when apps without names were last taken away
	forgotten uint64    // of apps that are not here any more
}

// use reports whether the app's name was not used before, and marks it.
func (u *usedByApp) use(app, name string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := u.apps[app]
	if names == nil {
		u.tidy(now)
		names = &usedNames{keep: u.keep, most: u.most}
		u.apps[app] = names
	}
	if u.held >= u.all {
		largest := u.largest()
		u.held -= len(largest.old)
		largest.turn(now)
	}
	before := names.size()
	defer func() { u.held += names.size() - before }()
	return names.use(name, now)
}

// giveBack takes the mark off a name: it was used for nothing.
func (u *usedByApp) giveBack(app, name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if names := u.apps[app]; names != nil {
		before := names.size()
		delete(names.now, name)
		delete(names.old, name)
		u.held += names.size() - before
	}
}

// tidy takes away the apps of which nothing has to be remembered any more, now and then.
func (u *usedByApp) tidy(now time.Time) {
	if u.apps == nil {
		u.apps = make(map[string]*usedNames)
	}
	if now.Sub(u.tidied) < u.keep {
		return
	}
	u.tidied = now
	for app, names := range u.apps {
		if now.Sub(names.since) >= 2*u.keep {
			u.forgotten += names.forgotten
			u.held -= names.size()
			delete(u.apps, app)
		}
	}
}

// largest is the app that has the most names.
func (u *usedByApp) largest() (largest *usedNames) {
	for _, names := range u.apps {
		if largest == nil || names.size() > largest.size() {
			largest = names
		}
	}
	return largest
}

func (u *usedByApp) forgottenNames() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.forgotten
	for _, names := range u.apps {
		n += names.forgotten
	}
	return n
}
