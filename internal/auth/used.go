package auth

import (
	"sync"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// What is remembered as used, and how much of it, in each of two generations.
const (
	// A state that a collector with a faster clock made is good for up to twice as long.
	stateMemory   = 2 * protocol.SealedStateLifetime
	maxUsedStates = 1 << 16

	jtiMemory   = MaxSingleUseLifetime + 2*Leeway
	maxUsedJTIs = 1 << 18
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
	if expired := now.Sub(u.since) >= u.keep; u.now == nil || expired || len(u.now) == u.most {
		if !expired {
			u.forgotten += uint64(len(u.old))
		}
		u.old, u.now, u.since = u.now, make(map[string]struct{}), now
	}
	u.now[name] = struct{}{}
	return true
}

// forgottenNames counts the names that were forgotten before their time.
func (u *usedNames) forgottenNames() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.forgotten
}
