package conference

import (
	"cmp"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/instance"
)

// Tick returns the summaries that are due at nowMs: of conferences that have ended
// (revision 1), and of ended ones that changed since (the next revision). Those of which
// records may be missing wait in Parts. Conferences
// that ended KeepEndedMs ago are let go. It looks at limit conferences at most and
// reports whether there are more to look at, so that whoever holds a lock can let others
// in between.
func (s *Set) Tick(nowMs int64, limit int) (out []Summary, more bool) {
	s.takeDue(nowMs)
	n := min(limit, len(s.check))
	look := s.check[:n]
	s.check = s.check[n:]
	for _, c := range look {
		s.look(c, nowMs)
	}
	if more = len(s.check) > 0; !more {
		s.check = nil
		for s.skipVoid() && s.kept[0].at+s.cfg.KeepEndedMs <= nowMs {
			s.release(nowMs)
		}
		s.forget(nowMs)
	}
	out, s.out = s.out, nil
	slices.SortFunc(out, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(a.EndMs, b.EndMs), cmp.Compare(a.AppID, b.AppID),
			cmp.Compare(a.ConferenceID, b.ConferenceID), cmp.Compare(a.Revision, b.Revision))
	})
	return out, more
}

// look decides about one conference.
func (s *Set) look(c *conf, nowMs int64) {
	c.queued = false
	if c.gone {
		return
	}
	if deadline := max(c.DeadlineMs(), s.othersMs(c)); nowMs <= deadline {
		c.whole = c.whole && !s.shared // until then others may write
		s.schedule(c, deadline)
		return
	}
	if c.changed && s.isPart(c) && c.asked < maxAsked {
		s.ask(c)
		return
	}
	s.end(c, nowMs)
	if c.changed {
		s.summarise(c)
	}
}

// takeDue moves what is in the buckets whose time has come to the list of those to look
// at.
func (s *Set) takeDue(nowMs int64) {
	for sec, confs := range s.due {
		if sec*1000 > nowMs {
			continue
		}
		for _, c := range confs {
			c.dueSec = 0
			if !c.queued {
				c.queued = true
				s.check = append(s.check, c)
			}
		}
		delete(s.due, sec)
	}
}

// schedule puts c in the bucket of the first second after its deadline, unless it is in
// an earlier one: that one will bring it back here.
func (s *Set) schedule(c *conf, deadlineMs int64) {
	if c.dueSec != 0 || deadlineMs == math.MinInt64 {
		return
	}
	c.dueSec = deadlineMs/1000 + 1
	s.due[c.dueSec] = append(s.due[c.dueSec], c)
}

func (s *Set) end(c *conf, nowMs int64) {
	if c.ended {
		return
	}
	c.ended, c.endedMs = true, nowMs
	s.live--
	s.kept = append(s.kept, keeping{c, nowMs})
	s.lastTurn(c, nowMs)
}

func (k keeping) void() bool { return k.conf.gone || !k.conf.ended || k.conf.endedMs != k.at }

// skipVoid makes the first in kept one that is still to be kept, if there is one.
func (s *Set) skipVoid() bool {
	for len(s.kept) > 0 && s.kept[0].void() {
		s.kept = s.kept[1:]
	}
	return len(s.kept) > 0
}

// release lets the conference go that ended first. It reports false when none has ended.
// What comes for it later is TooLate: a summary of that alone would take the place of the
// whole one.
func (s *Set) release(nowMs int64) bool {
	if !s.skipVoid() {
		return false
	}
	c := s.kept[0].conf
	s.kept = s.kept[1:]
	if c.changed {
		s.summarise(c)
	}
	sl := s.keys[c.key]
	s.drop(sl, c)
	sl.letGo = append(sl.letGo, c.span)
	s.letGo = append(s.letGo, released{c.key, c.span, nowMs + letGoMs})
	return true
}

// forget drops what is remembered of conferences that were let go long ago.
func (s *Set) forget(nowMs int64) {
	for len(s.letGo) > 0 && (s.letGo[0].until <= nowMs || len(s.letGo) > s.cfg.MaxConferences) {
		r := s.letGo[0]
		s.letGo = s.letGo[1:]
		sl := s.keys[r.key]
		if sl == nil { // a second one with the same span took the slot along
			continue
		}
		sl.letGo = slices.DeleteFunc(sl.letGo, func(span instance.Span) bool { return span == r.span })
		if len(sl.letGo) == 0 && len(sl.confs) == 0 {
			delete(s.keys, r.key)
		}
	}
}
