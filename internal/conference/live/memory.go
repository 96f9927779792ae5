package live

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/budget"
)

// The memory of conferences has an owner: the application. One that holds more than its share loses conferences that
// have ended, then the measurements of live ones, which are read from the store when those end. No other application
// is affected, and no record is lost.

// memory is what the conferences of each application take.
type memory struct {
	total  int64 // bytes
	apps   map[string]holding
	stuck  map[string]struct{} // applications that could not be brought below their share of the bytes since the last Tick
	full   map[string]struct{} // and those that could not be brought below their share of the conferences
	shrunk int                 // since the last Shrunk
}

// holding is what the conferences of one application take.
type holding struct {
	bytes       int64
	conferences int
}

func newMemory() memory {
	return memory{apps: make(map[string]holding), stuck: make(map[string]struct{}), full: make(map[string]struct{})}
}

// charge notes the bytes that c takes now.
func (s *Set) charge(c *conf) {
	bytes := c.Bytes()
	s.account(c.key.appID, bytes-c.bytes, 0)
	c.bytes = bytes
}

func (s *Set) account(app string, bytes int64, conferences int) {
	m := &s.memory
	m.total += bytes
	h := m.apps[app]
	h.bytes += bytes
	h.conferences += conferences
	if h == (holding{}) {
		delete(m.apps, app)
	} else {
		m.apps[app] = h
	}
}

// Bytes returns the bytes of the conferences in memory, an estimate.
func (s *Set) Bytes() int64 { return s.memory.total }

// Shrunk returns the number of conferences since the last call whose measurements were dropped.
func (s *Set) Shrunk() (n int) {
	n, s.memory.shrunk = s.memory.shrunk, 0
	return n
}

// holdsTooMuch reports whether an application holds more than its share.
func (s *Set) holdsTooMuch(app string) bool {
	return s.cfg.MaxBytes > 0 && !budget.IsWithinShare(s.memory.apps[app].bytes, s.cfg.MaxBytes-s.memory.total)
}

// hasMargin reports whether an application holds an eighth less than its share: the next search for what it can lose is
// that far away.
func (s *Set) hasMargin(app string) bool {
	held := s.memory.apps[app].bytes
	return budget.IsWithinShare(held+held/8, s.cfg.MaxBytes-s.memory.total)
}

// relieve brings an application that holds too much below its share: at the cost of those that ended first, then of the
// largest that are live. If that is not enough, it tries again in the next Tick.
func (s *Set) relieve(app string, nowMs int64) {
	if _, stuck := s.memory.stuck[app]; stuck || !s.holdsTooMuch(app) {
		return
	}
	s.releaseOf(app, nowMs, func() bool { return s.hasMargin(app) })
	for _, c := range s.shrinkable(app, nowMs) {
		if s.hasMargin(app) {
			return
		}
		s.shrink(c)
	}
	if s.holdsTooMuch(app) {
		s.memory.stuck[app] = struct{}{}
	}
}

// releaseOf releases the conferences of an application that ended first, until there is enough.
func (s *Set) releaseOf(app string, nowMs int64, enough func() bool) {
	for _, k := range s.kept {
		if enough() {
			return
		}
		if k.conf.key.appID == app && !k.void() {
			s.releaseOne(k.conf, nowMs)
		}
	}
}

// hasRoom reports whether an application may have so many conferences more.
func (s *Set) hasRoom(app string, more int) bool {
	return budget.IsWithinShare(int64(s.memory.apps[app].conferences+more), int64(s.cfg.MaxConferences-s.count))
}

// makeRoom reports whether an application may have one conference more. One that has its share of them loses those that
// ended first; an eighth of them, so that the next search is far away.
func (s *Set) makeRoom(app string, nowMs int64) bool {
	for s.count >= s.cfg.MaxConferences {
		if !s.release(nowMs) {
			return false
		}
	}
	if s.hasRoom(app, 1) {
		return true
	}
	if _, full := s.memory.full[app]; full {
		return false
	}
	s.releaseOf(app, nowMs, func() bool { return s.hasRoom(app, 1+s.memory.apps[app].conferences/8) })
	if s.hasRoom(app, 1) {
		return true
	}
	s.memory.full[app] = struct{}{}
	return false
}

// relieveAll relieves all applications: records that were read from the store count as well.
func (s *Set) relieveAll(nowMs int64) {
	clear(s.memory.stuck)
	clear(s.memory.full)
	for app := range s.memory.apps {
		s.relieve(app, nowMs)
	}
}

// shrinkable returns the live conferences of an application that are not being read from the store and are not due,
// largest first.
func (s *Set) shrinkable(app string, nowMs int64) (confs []*conf) {
	for k, sl := range s.keys {
		if k.appID != app {
			continue
		}
		for _, c := range sl.confs {
			if c.lifecycle == alive && !c.aside && c.unconfirmed == nil && c.evaluation != reading && c.DeadlineMs() > nowMs {
				confs = append(confs, c)
			}
		}
	}
	slices.SortFunc(confs, func(a, b *conf) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.key.conferenceID, b.key.conferenceID))
	})
	return confs
}

// shrink drops the measurements of c until it is read from the store, after its end.
func (s *Set) shrink(c *conf) {
	c.Shrink()
	c.makePartial()
	c.shrunk = true
	s.memory.shrunk++
	s.charge(c)
}
