package live

import (
	"hash/fnv"
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
)

// evaluations is the schedule of evaluations. A conference is evaluated if a record may raise an
// issue or if an issue is open: at most once in an interval, at its own offset, which distributes
// the work, and after its end.
type evaluations struct {
	due      map[int64][]*conf // by second
	queue    []*conf           // due now
	partials []Partial         // of conferences that may lack records, for the next ToRefresh
}

// backMs is the time before the start of this process from which on it notifies of issues that ended: the
// previous process may have stopped before it notified of them.
const backMs = 60_000

// StartedAt sets the time at which this process began to receive records. The previous process may
// have notified of issues that began before.
func (s *Set) StartedAt(ms int64) { s.startMs = ms }

// schedule schedules an evaluation of c if it needs one and none is scheduled.
func (s *Set) schedule(c *conf, nowMs int64) {
	if s.cfg.EvaluateMs > 0 && c.evaluation == idle && c.lifecycle != removed && !c.shrunk && c.NeedsEvaluation() {
		s.evaluateNext(c, nowMs)
	}
}

// evaluateNext schedules the next evaluation of c, at its own phase of the interval.
func (s *Set) evaluateNext(c *conf, nowMs int64) {
	every := s.cfg.EvaluateMs
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.key.appID + "\x00" + c.key.conferenceID)) // cannot fail
	phase := int64(h.Sum64() % uint64(every))                         // every is positive
	since := (nowMs - phase) % every
	if since < 0 {
		since += every
	}
	c.evaluation = scheduled
	second := (nowMs + every - since + 999) / 1000
	s.evaluations.due[second] = append(s.evaluations.due[second], c)
}

// evaluateLast schedules an evaluation of c, which has ended, in the next Evaluate, so that each
// issue of its summary has a notification.
func (s *Set) evaluateLast(c *conf) {
	if s.cfg.EvaluateMs > 0 {
		c.evaluation = final
		s.evaluations.queue = append(s.evaluations.queue, c)
	}
}

// Evaluated is the result of Set.Evaluate.
type Evaluated struct {
	Changes     []IssueChange
	Conferences int  // number of evaluated conferences
	Left        int  // issues without a notification, because too many of their conference are open
	More        bool // other conferences are due
}

// Evaluate finds issues that began or ended until nowMs in at most limit of the conferences
// that are due. Conferences that may lack records are in ToRefresh.
func (s *Set) Evaluate(nowMs int64, limit int) (out Evaluated) {
	e := &s.evaluations
	for second, confs := range e.due {
		if second*1000 <= nowMs {
			e.queue = append(e.queue, confs...)
			delete(e.due, second)
		}
	}
	out.Conferences = min(limit, len(e.queue))
	for _, c := range e.queue[:out.Conferences] {
		s.evaluate(c, nowMs, &out)
	}
	e.queue = e.queue[out.Conferences:]
	if out.More = len(e.queue) > 0; !out.More {
		e.queue = nil
	}
	return out
}

func (s *Set) evaluate(c *conf, nowMs int64, out *Evaluated) {
	if c.lifecycle == removed || c.evaluation != final && (c.evaluation != scheduled || c.lifecycle == ended) {
		return
	}
	if c.shrunk && c.lifecycle == alive { // its issues are found after its end
		c.evaluation = idle
		return
	}
	if s.isPartial(c) {
		c.notices.untilMs = max(c.notices.untilMs, s.startMs-backMs)
	}
	before := slices.Clone(c.notices.list)
	v := evaluator{conf: c, startMs: s.startMs, isOwn: s.isOwnIssue(c)}
	if sl := s.keys[c.key]; sl != nil {
		v.sameID = slices.Clone(sl.confs)
	}
	var again bool
	s.runAside(c, func() { again = v.run(nowMs) })
	if s.needsStore(c, v.out) {
		c.notices.list, c.evaluation = before, reading
		s.evaluations.partials = append(s.evaluations.partials, Partial{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: c.span().Start})
		return
	}
	c.Evaluated(again)
	c.refreshed, c.evaluation = c.refreshed && !s.shared, idle
	out.Changes, out.Left = append(out.Changes, v.out...), out.Left+v.unraised
	if (c.notices.open() || again) && c.lifecycle == alive {
		s.evaluateNext(c, nowMs)
	}
}

// needsStore reports whether changes may be wrong because the Set lacks records of c. If other
// processes write to the store, every change may be: participants at other processes are
// excuses.
func (s *Set) needsStore(c *conf, changes []IssueChange) bool {
	if c.refreshed || c.lifecycle == ended || !s.isPartial(c) {
		return false
	}
	return slices.ContainsFunc(changes, func(i IssueChange) bool { return s.shared || i.State == IssueRaised })
}

// isOwnIssue returns a filter of the issues of which this process notifies: those of sessions
// whose newest record arrived here.
func (s *Set) isOwnIssue(c *conf) func(*conference.Issue) bool {
	return func(i *conference.Issue) bool { return !s.shared || c.NewestArrived(i.Session, i.Fabric) }
}

// ToRefresh returns the conferences that must be read from the store before their evaluation.
// The caller MUST call Refreshed or NotRefreshed for each.
func (s *Set) ToRefresh() (partials []Partial) {
	partials, s.evaluations.partials = s.evaluations.partials, nil
	return partials
}

// Refreshed reports that all stored records of the conference at p were passed to Restore. The
// next Evaluate evaluates it.
func (s *Set) Refreshed(p Partial) {
	for _, c := range s.confsAt(p, p.AtMs) {
		if c.evaluation == reading {
			c.evaluation, c.refreshed = scheduled, true
			s.evaluations.queue = append(s.evaluations.queue, c)
		}
	}
}

// NotRefreshed reports that the records could not be read. They are requested again in the next
// interval.
func (s *Set) NotRefreshed(p Partial, nowMs int64) {
	for _, c := range s.confsAt(p, p.AtMs) {
		if c.evaluation == reading {
			s.evaluateNext(c, nowMs)
		}
	}
}
