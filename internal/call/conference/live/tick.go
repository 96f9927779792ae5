package live

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/instance"
)

// Tick returns the summaries that are due at nowMs: those of conferences that have ended
// (revision 1), and of ended ones that changed since (the next revision). Conferences that may
// lack records are in Partials. Conferences that ended KeepEndedMs ago are released. Tick checks
// at most limit conferences and reports whether there are more to check, so that the caller can
// release a lock in between. Conferences that change meanwhile are checked last, in later calls.
func (s *Set) Tick(nowMs int64, limit int) (out []conference.Summary, more bool) {
	if s.round == 0 {
		s.takeDue(nowMs)
		s.round = len(s.check)
	}
	n := min(limit, s.round)
	batch := s.check[:n]
	s.check = s.check[n:]
	s.round -= n
	for _, c := range batch {
		s.checkOne(c, nowMs)
	}
	if more = s.round > 0; !more {
		if len(s.check) == 0 {
			s.check = nil
		}
		for s.skipVoid() && s.kept[0].at+s.cfg.KeepEndedMs <= nowMs {
			s.release(nowMs)
		}
		s.forget(nowMs)
		s.expire(nowMs)
		s.relieveAll(nowMs)
	}
	s.summariseLeft()
	out, s.out = s.out, nil
	slices.SortFunc(out, func(a, b conference.Summary) int {
		return cmp.Or(cmp.Compare(a.EndMs, b.EndMs), cmp.Compare(a.AppID, b.AppID),
			cmp.Compare(a.ConferenceID, b.ConferenceID), cmp.Compare(a.Revision, b.Revision))
	})
	return out, more
}

// checkOne ends, summarises or restores one conference, or schedules its next check.
func (s *Set) checkOne(c *conf, nowMs int64) {
	c.queued = false
	if c.lifecycle == removed {
		return
	}
	if deadline := max(c.DeadlineMs(), s.othersMs(c)); nowMs <= deadline {
		if s.shared && c.coverage == complete { // other processes may write until then
			c.coverage = partial
		}
		s.checkAt(c, deadline)
		return
	}
	if c.changed && s.isPartial(c) && !s.givesUp(c, nowMs) {
		if next := c.attempts.nextMs; nowMs < next {
			s.checkAt(c, next)
			return
		}
		s.requestRestore(c, nowMs)
		return
	}
	s.end(c, nowMs)
	switch {
	case !c.changed:
	case nowMs < c.againMs:
		s.checkAt(c, c.againMs)
	default:
		s.summarise(c)
		c.againMs = nowMs + paceMs(c.Parts())
	}
}

// takeDue moves the conferences of the buckets that are due to check.
func (s *Set) takeDue(nowMs int64) {
	for sec, confs := range s.due {
		if sec*1000 > nowMs {
			continue
		}
		for _, c := range confs {
			if c.dueSec != sec { // it was due earlier
				continue
			}
			c.dueSec = 0
			if !c.queued {
				c.queued = true
				s.check = append(s.check, c)
			}
		}
		delete(s.due, sec)
	}
}

// checkAt adds c to the bucket of the first second after a deadline, unless it is in an earlier
// one: that check schedules the next.
func (s *Set) checkAt(c *conf, deadlineMs int64) {
	sec := deadlineMs/1000 + 1
	if deadlineMs == never || c.dueSec != 0 && c.dueSec <= sec {
		return
	}
	c.dueSec = sec
	s.due[c.dueSec] = append(s.due[c.dueSec], c)
}

func (s *Set) end(c *conf, nowMs int64) {
	if c.lifecycle != alive {
		return
	}
	c.lifecycle, c.endedMs = ended, nowMs
	s.live--
	s.kept = append(s.kept, endedConf{c, nowMs})
	s.evaluateLast(c)
}

func (k endedConf) void() bool { return k.conf.lifecycle != ended || k.conf.endedMs != k.at }

// skipVoid drops void elements from the front of kept. It reports whether one is left.
func (s *Set) skipVoid() bool {
	for len(s.kept) > 0 && s.kept[0].void() {
		s.kept = s.kept[1:]
	}
	return len(s.kept) > 0
}

// release releases the conference that ended first. It reports whether there was one. Later records
// of it are TooLate, or restore it: a summary of those alone would replace the complete one.
func (s *Set) release(nowMs int64) bool {
	if !s.skipVoid() {
		return false
	}
	c := s.kept[0].conf
	s.kept = s.kept[1:]
	s.releaseOne(c, nowMs)
	return true
}

// releaseOne releases a conference that has ended.
func (s *Set) releaseOne(c *conf, nowMs int64) {
	if c.changed {
		s.unsummarised = append(s.unsummarised, c)
	}
	sl := s.keys[c.key]
	s.drop(sl, c)
	sl.released = append(sl.released, c.span())
	s.released = append(s.released, releasedItem{c.key, c.span(), false, nowMs + rememberMs})
	var times []int64
	for a := range c.Annotations() {
		times = append(times, a.PlaceMs())
	}
	s.rememberAnnotations(sl, times, nowMs)
}

// summariseLeft summarises the conferences that were released before their last change was in a summary.
func (s *Set) summariseLeft() {
	for len(s.unsummarised) > 0 {
		c := s.unsummarised[0]
		s.unsummarised = s.unsummarised[1:]
		s.summarise(c)
	}
	s.unsummarised = nil
}

// rememberAnnotations stores the times of annotations that were released or dropped.
func (s *Set) rememberAnnotations(sl *slot, times []int64, nowMs int64) {
	if s.completeSinceMs == 0 {
		return
	}
	sl.sort()
	slices.Sort(times)
	times = slices.DeleteFunc(slices.Compact(times), func(at int64) bool {
		_, known := slices.BinarySearch(sl.lost, at)
		return known
	})
	for _, at := range times {
		s.released = append(s.released, releasedItem{sl.key, instance.At(at), true, nowMs + rememberMs})
	}
	if len(times) > 0 {
		sl.lost = append(sl.lost, times...)
		slices.Sort(sl.lost)
	}
}

// checkReleased makes c partial if it owns a released annotation.
func (s *Set) checkReleased(sl *slot, c *conf) {
	if len(sl.lost) == 0 {
		return
	}
	spans := sl.spans()
	sl.lost = slices.DeleteFunc(sl.lost, func(at int64) bool {
		owned := sl.ownerAmong(spans, at) == c
		if owned {
			c.makePartial()
		}
		return owned
	})
}

// forget drops the spans and times of conferences and annotations that were released long ago.
func (s *Set) forget(nowMs int64) {
	for len(s.released) > 0 && (s.released[0].until <= nowMs || len(s.released) > s.cfg.MaxConferences) {
		r := s.released[0]
		s.released = s.released[1:]
		sl := s.keys[r.key]
		if sl == nil { // dropped with another element of the same span
			continue
		}
		if r.annotation {
			sl.lost = slices.DeleteFunc(sl.lost, func(at int64) bool { return at == r.span.Start })
		} else {
			sl.released = slices.DeleteFunc(sl.released, func(span instance.Span) bool { return span == r.span })
		}
		s.tidy(sl)
	}
}

// tidy drops a slot that is empty.
func (s *Set) tidy(sl *slot) {
	if len(sl.confs)+len(sl.released)+len(sl.lost)+len(sl.waiting) == 0 {
		delete(s.keys, sl.key)
	}
}
