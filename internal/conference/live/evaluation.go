package live

import (
	"hash/fnv"
	"slices"

	"github.com/qosrtc/qos/internal/conference"
)

// evaluations says when which conferences are evaluated: only those to which something was
// applied that may raise an issue, and those with open issues, each at most once in an
// interval, at a time of its own, so that the work is spread out, and when it has ended.
type evaluations struct {
	due      map[int64][]*conf // by second
	queue    []*conf           // due now
	partials []Partial         // of which records may be missing, for the next ToRefresh
}

// backMs is how far back before the start of this process it notifies of what is over: its
// predecessor may have been stopped before it did.
const backMs = 60_000

// StartedAt says when this process began to receive records: its predecessor may have notified
// of what began before.
func (s *Set) StartedAt(ms int64) { s.startMs = ms }

// schedule gives c a time for its evaluation when it needs one and has none.
func (s *Set) schedule(c *conf, nowMs int64) {
	if s.cfg.EvaluateMs > 0 && c.evaluation == idle && c.lifecycle != gone && c.NeedsEvaluation() {
		s.evaluateNext(c, nowMs)
	}
}

// evaluateNext schedules the next evaluation of c: each conference has a phase of its own.
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

// evaluateLast schedules an evaluation of c, which has ended, in the next Evaluate: what its
// summary finds was notified.
func (s *Set) evaluateLast(c *conf) {
	if s.cfg.EvaluateMs > 0 {
		c.evaluation = final
		s.evaluations.queue = append(s.evaluations.queue, c)
	}
}

// Evaluated is the result of Set.Evaluate.
type Evaluated struct {
	Changes     []IssueChange
	Conferences int  // that were evaluated
	Left        int  // issues without a notification because too many of their conference are open
	More        bool // whether others are due
}

// Evaluate finds issues that began or ended until nowMs in at most limit of the conferences
// that are due. Those of which records may be missing are in ToRefresh.
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
	if c.lifecycle == gone || c.evaluation != final && (c.evaluation != scheduled || c.lifecycle == ended) {
		return
	}
	if s.isPartial(c) {
		c.notices.untilMs = max(c.notices.untilMs, s.startMs-backMs)
	}
	before := slices.Clone(c.notices.list)
	v := evaluator{conf: c, startMs: s.startMs, own: s.isOwnIssue(c)}
	again := v.run(nowMs)
	if s.needsStore(c, v.out) {
		c.notices.list, c.evaluation = before, reading
		s.evaluations.partials = append(s.evaluations.partials, Partial{AppID: c.key.appID, ConferenceID: c.key.conferenceID, AtMs: c.span().Start})
		return
	}
	c.Evaluated(again)
	c.refreshed, c.evaluation = c.refreshed && !s.shared, idle
	out.Changes, out.Left = append(out.Changes, v.out...), out.Left+v.left
	if (c.notices.open() || again) && c.lifecycle == alive {
		s.evaluateNext(c, nowMs)
	}
}

// needsStore reports whether changes may be wrong because other records of c are not here.
// Where others write to the store all may be: the streams of participants elsewhere excuse,
// and they change.
func (s *Set) needsStore(c *conf, changes []IssueChange) bool {
	if c.refreshed || c.lifecycle == ended || !s.isPartial(c) {
		return false
	}
	return slices.ContainsFunc(changes, func(i IssueChange) bool { return s.shared || i.State == IssueRaised })
}

// isOwnIssue selects the issues that this process notifies of: of sessions whose newest record
// arrived here.
func (s *Set) isOwnIssue(c *conf) func(*conference.Issue) bool {
	return func(i *conference.Issue) bool { return !s.shared || c.NewestArrived(i.Session, i.Fabric) }
}

// ToRefresh returns the conferences that wait for their other records before they are
// evaluated. Refreshed, or NotRefreshed, must follow for each.
func (s *Set) ToRefresh() (partials []Partial) {
	partials, s.evaluations.partials = s.evaluations.partials, nil
	return partials
}

// Refreshed says that all records of the conference at p that the store has were given to
// Restore: it is evaluated in the next Evaluate.
func (s *Set) Refreshed(p Partial) {
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, p.AtMs) {
		if c.evaluation == reading {
			c.evaluation, c.refreshed = scheduled, true
			s.evaluations.queue = append(s.evaluations.queue, c)
		}
	}
}

// NotRefreshed says that they could not be had: it is tried again in the next interval.
func (s *Set) NotRefreshed(p Partial, nowMs int64) {
	for _, c := range s.at(key{p.AppID, p.ConferenceID}, p.AtMs) {
		if c.evaluation == reading {
			c.Evaluated(true)
			s.evaluateNext(c, nowMs)
		}
	}
}
