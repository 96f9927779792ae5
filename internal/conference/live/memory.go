package live

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/budget"
)

// The memory of conferences has an owner: the application. One that holds more than its share loses conferences that
// have ended, then the measurements of live ones, which are read from the store when those end. No other application
// is affected, and no record is lost.

// memory are the bytes of the conferences of each application.
type memory struct {
	total  int64
	apps   map[string]int64
	stuck  map[string]struct{} // applications that could not be brought below their share since the last Tick
	shrunk int                 // since the last Shrunk
}

// charge notes the bytes that c takes now.
func (s *Set) charge(c *conf) {
	bytes := c.Bytes()
	s.account(c.key.appID, bytes-c.bytes)
	c.bytes = bytes
}

// uncharge notes that c takes none.
func (s *Set) uncharge(c *conf) {
	s.account(c.key.appID, -c.bytes)
	c.bytes = 0
}

func (s *Set) account(app string, bytes int64) {
	m := &s.memory
	m.total += bytes
	if m.apps[app] += bytes; m.apps[app] == 0 {
		delete(m.apps, app)
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
	return s.cfg.MaxBytes > 0 && !budget.IsWithinShare(s.memory.apps[app], s.cfg.MaxBytes-s.memory.total)
}

// hasMargin reports whether an application holds an eighth less than its share: the next search for what it can lose is
// that far away.
func (s *Set) hasMargin(app string) bool {
	held := s.memory.apps[app]
	return budget.IsWithinShare(held+held/8, s.cfg.MaxBytes-s.memory.total)
}

// relieve brings an application that holds too much below its share: at the cost of those that ended first, then of the
// largest that are live. If that is not enough, it tries again in the next Tick.
func (s *Set) relieve(app string, nowMs int64) {
	if _, stuck := s.memory.stuck[app]; stuck || !s.holdsTooMuch(app) {
		return
	}
	for _, k := range s.kept {
		if s.hasMargin(app) {
			return
		}
		if k.conf.key.appID == app && !k.void() {
			s.releaseOne(k.conf, nowMs)
		}
	}
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

// relieveAll does so for all applications: records that were read from the store count as well.
func (s *Set) relieveAll(nowMs int64) {
	clear(s.memory.stuck)
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
			if c.lifecycle == alive && c.unconfirmed == nil && c.evaluation != reading && c.DeadlineMs() > nowMs {
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
