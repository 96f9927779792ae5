package conference

import (
	"hash/fnv"
	"slices"
)

// turns says when which conferences are looked at for issues: only those in which something
// was told since that may be wrong, and those with open issues, each at most once in an
// interval, at a time of its own, so that the work is spread out, and when it has ended.
type turns struct {
	due   map[int64][]*conf // by second
	queue []*conf           // whose turn it is
	parts []Part            // of which records may be missing, for the next IssueParts
}

// backMs is how far back before the start of this process it tells of what is over: what its
// predecessor may not have come to.
const backMs = 60_000

// StartedAt says when this process began to see records: what began before may have been told
// by one before it.
func (s *Set) StartedAt(ms int64) { s.startMs = ms }

// stir gives c a turn when there is something to look at.
func (s *Set) stir(c *conf, nowMs int64) {
	if s.cfg.IssuesEveryMs > 0 && c.dirty && c.turnMs == 0 && !c.gone {
		s.takeTurn(c, nowMs)
	}
}

// takeTurn schedules the next turn of c: each conference has a phase of its own.
func (s *Set) takeTurn(c *conf, nowMs int64) {
	every := s.cfg.IssuesEveryMs
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.key.appID + "\x00" + c.key.conferenceID)) // cannot fail
	phase := int64(h.Sum64() % uint64(every))                         // every is positive
	since := (nowMs - phase) % every
	if since < 0 {
		since += every
	}
	c.turnMs = nowMs + every - since
	second := (c.turnMs + 999) / 1000
	s.turns.due[second] = append(s.turns.due[second], c)
}

// lastTurn gives c, which has ended, a turn in the next Issues: what its summary finds was told.
func (s *Set) lastTurn(c *conf, nowMs int64) {
	if s.cfg.IssuesEveryMs > 0 {
		c.final = true
		s.turns.now(c, nowMs)
	}
}

// now gives c a turn in the next Issues.
func (t *turns) now(c *conf, nowMs int64) {
	c.turnMs = nowMs
	t.queue = append(t.queue, c)
}

// Found is what Set.Issues found.
type Found struct {
	Changes     []IssueChange
	Conferences int  // that were looked at
	Left        int  // issues that are not told because too many of their conference are open
	More        bool // whether there are others whose turn it is
}

// Issues looks for what came or went until nowMs in at most limit of the conferences whose
// turn it is. Those of which records may be missing wait in IssueParts.
func (s *Set) Issues(nowMs int64, limit int) (found Found) {
	for second, confs := range s.turns.due {
		if second*1000 <= nowMs {
			s.turns.queue = append(s.turns.queue, confs...)
			delete(s.turns.due, second)
		}
	}
	found.Conferences = min(limit, len(s.turns.queue))
	for _, c := range s.turns.queue[:found.Conferences] {
		s.lookAt(c, nowMs, &found)
	}
	s.turns.queue = s.turns.queue[found.Conferences:]
	if found.More = len(s.turns.queue) > 0; !found.More {
		s.turns.queue = nil
	}
	return found
}

func (s *Set) lookAt(c *conf, nowMs int64, found *Found) {
	c.turnMs = 0
	if c.gone || c.waits || c.ended && !c.final {
		return
	}
	if s.isPart(c) {
		c.issues.untilMs = max(c.issues.untilMs, s.startMs-backMs)
	}
	before := slices.Clone(c.issues.list)
	l := look{conf: c, startMs: s.startMs, own: s.ownIssue(c)}
	l.run(moment(nowMs))
	if s.needsStore(c, l.out) {
		c.issues.list, c.waits = before, true
		s.turns.parts = append(s.turns.parts, Part{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: c.span.Start})
		return
	}
	c.dirty, c.known, c.final = l.lasts, c.known && !s.shared, false
	found.Changes, found.Left = append(found.Changes, l.out...), found.Left+l.left
	if (c.issues.open() || l.lasts) && !c.ended {
		s.takeTurn(c, nowMs)
	}
}

// needsStore reports whether changes may be wrong because other records of c are not here.
// Where others write to the store all may be: the streams of those who are elsewhere excuse,
// and they do not stand still.
func (s *Set) needsStore(c *conf, changes []IssueChange) bool {
	if c.known || c.ended || !s.isPart(c) {
		return false
	}
	return slices.ContainsFunc(changes, func(i IssueChange) bool { return s.shared || i.State == IssueRaised })
}

// ownIssue tells the issues that are this process's to tell: of sessions whose newest record
// came here.
func (s *Set) ownIssue(c *conf) func(*Issue) bool {
	return func(i *Issue) bool {
		if !s.shared {
			return true
		}
		for number, f := range c.participants[i.Session].fabrics {
			if (i.Fabric == 0 || number == i.Fabric) && f.own >= f.last {
				return true
			}
		}
		return false
	}
}

// IssueParts returns the conferences that wait for their other records, to be looked at for
// issues. Refreshed, or NotRefreshed, must follow for each.
func (s *Set) IssueParts() (parts []Part) {
	parts, s.turns.parts = s.turns.parts, nil
	return parts
}

// Refreshed says that all records of the conference at p that the store has were given to
// Restore: it is looked at in the next Issues.
func (s *Set) Refreshed(p Part, nowMs int64) {
	for _, c := range s.at(p) {
		if c.waits {
			c.waits, c.known = false, true
			s.turns.now(c, nowMs)
		}
	}
}

// NotRefreshed says that they could not be had: it is tried again in its next turn.
func (s *Set) NotRefreshed(p Part, nowMs int64) {
	for _, c := range s.at(p) {
		if c.waits {
			c.waits, c.dirty = false, true
			s.takeTurn(c, nowMs)
		}
	}
}
