package live

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/serve/budget"
)

// The memory of conferences is charged to their application. If it holds more than its share, its ended conferences are
// released first, then the measurements of live ones are dropped, which are read from the store at their end. No other
// application is affected, and no record is lost.

// memory is the memory of the conferences of all applications.
type memory struct {
	total  int64 // bytes
	apps   map[string]holding
	stuck  map[string]struct{} // applications that remained above their share of the bytes since the last Tick
	full   map[string]struct{} // applications that remained at their share of the conferences since the last Tick
	shrunk int                 // since the last Shrunk
}

// holding is the memory of the conferences of one application.
type holding struct {
	bytes       int64
	conferences int
}

func newMemory() memory {
	return memory{apps: make(map[string]holding), stuck: make(map[string]struct{}), full: make(map[string]struct{})}
}

// charge charges the current bytes of c to its application.
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

// Bytes returns the estimated bytes of the conferences in memory.
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

// hasMargin reports whether an application holds an eighth less than its share, so that the next search for conferences to
// release or shrink is not due soon.
func (s *Set) hasMargin(app string) bool {
	held := s.memory.apps[app].bytes
	return budget.IsWithinShare(held+held/8, s.cfg.MaxBytes-s.memory.total)
}

// relieve brings an application that holds too much below its share: it releases the conferences that ended first, then
// shrinks the largest live ones. If that is not enough, it is repeated in the next Tick.
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

// releaseOf releases the conferences of an application that ended first, until enough is true.
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

// hasRoom reports whether an application may have that many further conferences.
func (s *Set) hasRoom(app string, more int) bool {
	return budget.IsWithinShare(int64(s.memory.apps[app].conferences+more), int64(s.cfg.MaxConferences-s.count))
}

// makeRoom reports whether an application may have one more conference. If it has its share of them, an eighth of them is
// released, those that ended first, so that the next search is not due soon.
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

// relieveAll relieves all applications, also of records that were read from the store.
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
			if c.lifecycle == alive && !c.beingRead && c.unconfirmed == nil && c.evaluation != reading && c.DeadlineMs() > nowMs {
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
