package conference

import (
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/internal/quality"
)

// Config bounds a Set.
type Config struct {
	MaxConferences int            // in memory, live and ended
	KeepEndedMs    int64          // how long an ended conference can still be revised
	Labels         quality.Bounds // of scores
	Detect         *detect.Rules  // of detectors; nil: the defaults
	IssuesEveryMs  int64          // how often a live conference is looked at for issues, from 1 s; 0: never
}

// Result is what became of a record in Set.Apply.
type Result uint8

// The results.
const (
	Applied   Result = iota
	Duplicate        // seen before
	Unplaced         // belongs to no conference: it names none
	Invalid          // has no session, or a number or time out of range
	TooLate          // belongs to a conference that was let go
	Full             // there are too many conferences

	NumResults // how many there are
)

// String returns the name that metrics use.
func (r Result) String() string {
	return [...]string{"applied", "duplicate", "unplaced", "invalid", "too_late", "full"}[r]
}

const (
	// maxFutureMs is how far ahead of now a record may be. The receiver allows 60 s
	// (docs/protocol.md, section 5); beyond it a wrong time would keep a conference alive.
	maxFutureMs = 120_000
	// letGoMs is how long it is remembered that a conference was let go: as long as the
	// receiver takes records that are late.
	letGoMs = 25 * 3600_000
)

// Set holds the conferences of all apps: for each (appID, conferenceID) the instances
// whose activity lies more than 30 s apart. It is not safe for concurrent use.
type Set struct {
	cfg      Config
	judge    *judge
	keys     map[key]*slot
	sessions map[sessionKey]*sessionRecords
	live     int               // instances that have not ended
	count    int               // all instances
	due      map[int64][]*conf // by second: when to look whether they have ended
	check    []*conf           // to look at in the next Tick, whatever their deadline
	kept     []keeping         // ended, oldest first
	letGo    []released        // let go, oldest first
	out      []Summary         // for the next Tick

	wholeFromMs int64  // what begins earlier may be a part; 0: nobody can restore it
	parts       []Part // for the next Parts
	shared      bool   // others write to that store too

	turns   turns // when to look for issues
	startMs int64 // of this process; 0: it is not known
}

type key struct{ appID, conferenceID string }

// slot is all that is known of one (appID, conferenceID).
type slot struct {
	confs []*conf
	letGo []instance.Span
}

// conf is one conference in a Set.
type conf struct {
	*Conference
	key      key
	sessions map[string]struct{} // of which it has records
	revision int
	part     bool     // others of its records were let go
	whole    bool     // all of its records were restored
	asked    int      // how often it stood in Parts
	last     stamp    // of its activity
	told     *Summary // that the store has, when it was restored; nil: none, or not known
	counted  counted  // participants of earlier revisions
	changed  bool     // since the last summary
	ended    bool     // and counted so
	endedMs  int64    // when it was found ended
	dueSec   int64    // the bucket that it is in; 0: none
	queued   bool     // in check
	gone     bool     // swallowed or let go

	issues tellings // that were told
	turnMs int64    // when it is looked at for issues; 0: there is no need to
	known  bool     // the store's records are here, for issues
	waits  bool     // for them
	final  bool     // its last turn is to come
}

// keeping is a conference that ended at a time; void when it has gone on since.
type keeping struct {
	conf *conf
	at   int64
}

// released is a conference that was let go.
type released struct {
	key   key
	span  instance.Span
	until int64
}

// NewSet returns an empty set.
func NewSet(cfg Config) *Set {
	return &Set{cfg: cfg, judge: newJudge(cfg.Detect, cfg.Labels), keys: make(map[key]*slot), sessions: make(map[sessionKey]*sessionRecords), due: make(map[int64][]*conf), turns: turns{due: make(map[int64][]*conf)}}
}

// Live returns the number of conferences that have not ended; Len that of all in memory.
func (s *Set) Live() int { return s.live }

// Len returns the number of conferences in memory: live, and ended but not let go.
func (s *Set) Len() int { return s.count }

// Apply takes one record that arrived at nowMs.
func (s *Set) Apply(e *event.Event, nowMs int64) Result { return s.apply(e, nowMs, nowMs) }

func (s *Set) apply(e *event.Event, nowMs, arrivedMs int64) Result {
	switch {
	case e.ConferenceID == "":
		return Unplaced
	case e.Session == "" || e.Seq == 0 || !identified(e) ||
		e.AtMs <= 0 || e.AtMs > nowMs+maxFutureMs || placeMs(e) <= 0 || placeMs(e) > nowMs+maxFutureMs:
		return Invalid
	case arrivedMs != math.MinInt64 && s.Seen(e) || s.seenHere(e): // a restored one is the store's, which is right
		s.claim(e, arrivedMs)
		return Duplicate
	}
	k := key{e.AppID, e.ConferenceID}
	sl := s.keys[k]
	c := sl.home(e)
	if c == nil {
		part := sl != nil && sl.wasLetGo(placeMs(e))
		if part && s.wholeFromMs == 0 {
			return TooLate
		}
		if c = s.open(k, nowMs); c == nil {
			s.missed(nowMs)
			return Full
		}
		c.part = part
		sl = s.keys[c.key]
	}
	before := c.span
	c.apply(e, arrivedMs)
	s.note(c, e)
	if c.span != before && placeMs(e) < s.wholeFromMs {
		c.whole, c.asked = false, 0 // it may touch what only the store knows
	}
	s.mark(c, e, arrivedMs)
	s.stir(c, nowMs)
	s.touch(c, e.Kind == event.KindEvent && (e.Name == "fabricTerminated" || e.Name == "fabricSetupFailed"))
	if len(sl.confs) > 1 && (!e.Activity() || c.span != before) {
		s.join(sl, c)
		s.rehome(sl, nowMs)
	}
	return Applied
}

// home returns the conference that the record belongs to, nil when there is none. It may
// join several with activity: any of them will do, join does the rest.
func (sl *slot) home(e *event.Event) *conf {
	if sl == nil {
		return nil
	}
	at := placeMs(e)
	var best *conf
	for _, c := range sl.confs {
		if e.Activity() && !c.active || !c.span.Contains(at) {
			continue
		}
		if best == nil || c.nearer(best, at) {
			best = c
		}
	}
	return best
}

// nearer reports whether c is a better home than o for a remark at that time: the one
// with activity, then the nearest, then the earliest.
func (c *conf) nearer(o *conf, at int64) bool {
	if c.active != o.active {
		return c.active
	}
	if a, b := distance(c.span, at), distance(o.span, at); a != b {
		return a < b
	}
	return c.span.Start < o.span.Start
}

func distance(s instance.Span, at int64) int64 { return max(0, s.Start-at, at-s.End) }

func (sl *slot) wasLetGo(at int64) bool {
	for _, span := range sl.letGo {
		if span.Contains(at) {
			return true
		}
	}
	return false
}

// open starts a conference, nil when there is no room.
func (s *Set) open(k key, nowMs int64) *conf {
	for s.count >= s.cfg.MaxConferences {
		if !s.release(nowMs) {
			return nil
		}
	}
	sl := s.keys[k]
	if sl == nil {
		k = key{strings.Clone(k.appID), strings.Clone(k.conferenceID)}
		sl = new(slot)
		s.keys[k] = sl
	}
	c := &conf{Conference: newConference(k.appID, k.conferenceID, s.judge), key: k}
	sl.confs = append(sl.confs, c)
	s.count++
	s.live++
	return c
}

// touch notes that c changed. The next Tick looks at it if look is set, if it had ended,
// or if nothing else makes a Tick look at it.
func (s *Set) touch(c *conf, look bool) {
	if c.gone {
		return
	}
	c.changed = true
	if c.ended { // it may go on: the next Tick decides
		c.ended, look = false, true
		s.live++
	}
	if (look || c.dueSec == 0) && !c.queued {
		c.queued = true
		s.check = append(s.check, c)
	}
}

// join merges into c all conferences whose activity it now touches.
func (s *Set) join(sl *slot, c *conf) {
	for again := true; again; {
		again = false
		for _, o := range sl.confs {
			if o != c && o.active && c.active && c.span.Joins(o.span) {
				s.swallow(sl, c, o)
				again = true
				break
			}
		}
	}
}

// swallow makes o part of c. The summary of the whole is a revision of both.
func (s *Set) swallow(sl *slot, c, o *conf) {
	whole := !s.isPart(c) && !s.isPart(o)
	c.merge(o.Conference)
	for session := range o.sessions {
		s.share(c, session)
	}
	c.revision = max(c.revision, o.revision)
	c.counted.merge(&o.counted)
	c.whole, c.told = whole, nil
	c.part, c.asked = c.part || o.part, min(c.asked, o.asked)
	c.issues.merge(&o.issues)
	c.known, c.waits, c.dirty = c.known && o.known, false, true
	if o.last.after(c.last) {
		c.last = o.last
	}
	s.drop(sl, o)
	s.touch(c, true)
}

// drop takes c out of its slot.
func (s *Set) drop(sl *slot, c *conf) {
	for i, have := range sl.confs {
		if have == c {
			sl.confs = append(sl.confs[:i], sl.confs[i+1:]...)
			break
		}
	}
	c.gone = true
	s.unshare(c)
	s.count--
	if !c.ended {
		s.live--
	}
}

// summarise adds the next revision of c's summary to what the next Tick returns, unless the
// store has told it.
func (s *Set) summarise(c *conf) {
	told := c.told
	c.changed, c.told = false, nil
	summary := c.Summary(s.cfg.Labels)
	summary.Added = c.counted.add(&summary)
	if told != nil && told.same(summary) {
		return
	}
	c.revision++
	summary.Revision = c.revision
	s.out = append(s.out, summary)
}
