package live

import (
	"math"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Config bounds a Set.
type Config struct {
	MaxConferences int            // in memory, live and ended
	MaxBytes       int64          // of conferences in memory, an estimate; 0: no limit
	KeepEndedMs    int64          // time after its end for which a conference can be revised
	Labels         quality.Bounds // of scores
	Detect         *detect.Rules  // of detectors; nil: the defaults
	EvaluateMs     int64          // evaluation interval of a live conference's issues, from 1 s; 0: never
	// Aside calls run, which takes long and reads one conference. It MAY release the caller's lock of the Set meanwhile;
	// then the caller MUST NOT apply records for which IsAside is true. nil: run is called directly.
	Aside func(run func())
}

// Result is the result of Set.Apply for one record.
type Result uint8

// The results.
const (
	Applied    Result = iota
	Waiting           // an annotation that no conference of the Set owns; later it is applied, or Unattached
	Duplicate         // applied before
	Unplaced          // has no conference ID
	Invalid           // has no session, or a number or time out of range
	TooLate           // belongs to a conference that was released
	Full              // no room for another conference or waiting annotation
	Unattached        // no conference owns the annotation; Set.Unattached counts them

	NumResults // number of results
)

// String returns the name that metrics use.
func (r Result) String() string {
	return [...]string{"applied", "waiting", "duplicate", "unplaced", "invalid", "too_late", "full", "unattached"}[r]
}

const (
	// maxFutureMs bounds the time of a record ahead of now. The receiver allows 60 s
	// (docs/protocol.md, section 5); a later time would prolong a conference.
	maxFutureMs = 120_000
	// rememberMs is the time for which the span of a released conference is kept: as long as the
	// receiver accepts late records.
	rememberMs = 25 * 3600_000
)

// Set holds the conferences of all apps: for each (appID, conferenceID) the instances
// whose activity lies more than 30 s apart. It is not safe for concurrent use.
type Set struct {
	cfg          Config
	keys         map[key]*slot
	sessions     map[sessionKey]*sessionRecords
	live         int               // number of instances that have not ended
	count        int               // number of instances
	due          map[int64][]*conf // by the second in which their end is checked
	check        []*conf           // to be checked in the next Tick, regardless of the deadline
	kept         []endedConf       // ended, oldest first
	released     []releasedItem    // oldest first
	out          []conference.Summary
	round        int     // number of elements of check that Tick checks before it reports that there are no more
	unsummarised []*conf // released before their last change was summarised
	reads        int     // conferences that are being read

	waiting    waitingList
	unattached int // since the last Unattached
	unrestored int // since the last Unrestored

	completeSinceMs int64            // conferences that begin earlier may be partial; 0: there is no store
	missedMs        map[string]int64 // likewise, by application: one of its records had no room
	partials        []Partial        // for the next Partials
	shared          bool             // other processes write to that store too

	evaluations evaluations
	memory      memory
	startMs     int64 // of this process; 0: unknown
}

type key struct{ appID, conferenceID string }

// slot is the state of one (appID, conferenceID).
type slot struct {
	key      key
	confs    []*conf              // ascending
	released []instance.Span      // of conferences: see sort
	lost     []int64              // times of released annotations: a conference that owns one is partial
	waiting  []*waitingAnnotation // ascending by PlaceMs and arrival
	reported reportedQueue        // of waiting

	unsorted  bool // released and lost have new elements
	sortedLen int  // length of released when it was sorted
	recheck   bool // any waiting annotation may have another owner
}

// endedConf is a conference that ended at a time. It is void if the conference continued later.
type endedConf struct {
	conf *conf
	at   int64
}

// releasedItem is a released conference or annotation of a key.
type releasedItem struct {
	key        key
	span       instance.Span
	annotation bool
	until      int64
}

// NewSet returns an empty set.
func NewSet(cfg Config) *Set {
	return &Set{
		cfg: cfg, keys: make(map[key]*slot), sessions: make(map[sessionKey]*sessionRecords), due: make(map[int64][]*conf),
		waiting: newWaitingList(), evaluations: evaluations{due: make(map[int64][]*conf)},
		memory: newMemory(), missedMs: make(map[string]int64),
	}
}

// Live returns the number of conferences that have not ended.
func (s *Set) Live() int { return s.live }

// Len returns the number of conferences in memory: live, and ended but not released.
func (s *Set) Len() int { return s.count }

// Apply applies one record that arrived at nowMs.
func (s *Set) Apply(e *event.Event, nowMs int64) Result { return s.apply(e, nowMs, nowMs) }

func (s *Set) apply(e *event.Event, nowMs, arrivedMs int64) Result {
	switch {
	case e.ConferenceID == "":
		return Unplaced
	case e.Session == "" || e.Seq == 0 || !e.Identified() ||
		e.AtMs <= 0 || e.AtMs > nowMs+maxFutureMs || e.PlaceMs() <= 0 || e.PlaceMs() > nowMs+maxFutureMs:
		return Invalid
	case arrivedMs != conference.NotArrived && s.Seen(e) || s.confirmed(e): // the store decides about restored records
		s.claim(e, arrivedMs)
		return Duplicate
	case e.Activity():
		return s.applyActivity(e, nowMs, arrivedMs)
	}
	return s.applyAnnotation(e, nowMs, arrivedMs)
}

func (s *Set) applyActivity(e *event.Event, nowMs, arrivedMs int64) Result {
	k := key{e.AppID, e.ConferenceID}
	sl := s.keys[k]
	c := sl.confJoinedAt(e.AtMs)
	fresh := c == nil
	if fresh {
		released := sl.wasReleased(e.AtMs)
		if released && s.completeSinceMs == 0 {
			return TooLate
		}
		if c = s.open(k, e.AtMs, nowMs); c == nil {
			s.noteMissed(e.AppID, nowMs)
			return Full
		}
		if sl = s.keys[c.key]; released {
			c.makePartial()
		}
	}
	before := c.span()
	s.put(c, e, nowMs, arrivedMs)
	if after := c.span(); after != before {
		s.handleGrowth(sl, c, before, fresh, nowMs)
	}
	return Applied
}

// put applies a record to its conference.
func (s *Set) put(c *conf, e *event.Event, nowMs, arrivedMs int64) {
	before := c.span()
	c.ApplyArrived(e, arrivedMs)
	s.note(c, e)
	if c.span() != before && e.PlaceMs() < s.completeSince(c.key.appID) {
		c.makePartial() // only the store may have an adjacent conference
	}
	s.mark(c, e, arrivedMs)
	if s.charge(c); arrivedMs != conference.NotArrived {
		s.relieve(c.key.appID, nowMs)
	}
	s.schedule(c, nowMs)
	s.touch(c, e.Kind == event.KindEvent && (e.Name == "fabricTerminated" || e.Name == "fabricSetupFailed"))
}

// open starts a conference at a time. It returns nil if there is no room.
func (s *Set) open(k key, at, nowMs int64) *conf {
	if !s.makeRoom(k.appID, nowMs) {
		return nil
	}
	sl := s.slot(k)
	k = sl.key
	c := &conf{Conference: conference.New(k.appID, k.conferenceID, s.cfg.Detect, s.cfg.Labels), key: k}
	sl.confs = slices.Insert(sl.confs, sl.startsAt(at), c)
	s.count++
	s.live++
	s.account(k.appID, 0, 1)
	return c
}

// slot returns the slot of a key, and creates it if there is none.
func (s *Set) slot(k key) *slot {
	sl := s.keys[k]
	if sl == nil {
		k = key{strings.Clone(k.appID), strings.Clone(k.conferenceID)}
		sl = &slot{key: k}
		s.keys[k] = sl
	}
	return sl
}

// touch marks c as changed. The next Tick checks it if now is true, if it had ended,
// or if no check of it is due later.
func (s *Set) touch(c *conf, now bool) {
	if c.lifecycle == removed {
		return
	}
	c.changed = true
	if c.lifecycle == ended { // the next Tick finds out whether it continues
		c.lifecycle, now = alive, true
		s.live++
	}
	if (now || c.dueSec == 0) && !c.queued {
		c.queued = true
		s.check = append(s.check, c)
	}
}

// absorb merges o into c. The summary of the merged conference is a revision of both.
func (s *Set) absorb(sl *slot, c, o *conf) {
	haveAll := s.hasAll(c) && s.hasAll(o)
	c.Merge(o.Conference)
	for session := range o.sessions {
		s.share(c, session)
	}
	c.revision = max(c.revision, o.revision)
	c.counted.merge(&o.counted)
	c.coverage, c.stored = partial, nil
	if haveAll {
		c.coverage = complete
	}
	c.attempts = attempts{}
	c.unconfirmed = c.unconfirmed.union(o.unconfirmed)
	c.notices.merge(&o.notices)
	c.refreshed = c.refreshed && o.refreshed
	c.shrunk = c.shrunk || o.shrunk
	if c.evaluation == reading {
		c.evaluation = idle
	}
	c.Evaluated(true)
	if o.last.after(c.last) {
		c.last = o.last
	}
	s.remove(sl, o)
	s.charge(c)
	s.touch(c, true)
}

// drop removes c, which is being released, from its slot.
func (s *Set) drop(sl *slot, c *conf) {
	s.remove(sl, c)
	sl.unsorted = true
}

func (s *Set) remove(sl *slot, c *conf) {
	i := sl.startsAt(c.span().Start)
	sl.confs = slices.Delete(sl.confs, i, i+1)
	if c.lifecycle != ended {
		s.live--
	}
	c.lifecycle = removed
	s.account(c.key.appID, -c.bytes, -1)
	c.bytes = 0
	s.unshare(c)
	s.count--
}

// summarise adds the next revision of c's summary to the result of the next Tick, unless the
// store has it.
func (s *Set) summarise(c *conf) {
	stored := c.stored
	if c.coverage == damaged && stored != nil && c.span().End <= stored.EndMs { // the stored summary covers more
		c.changed = false
		return
	}
	c.changed, c.stored = false, nil
	var summary conference.Summary
	known := false
	s.runAside(c, func() {
		summary = c.Summary(s.cfg.Labels)
		summary.Added = c.counted.add(&summary)
		known = stored != nil && equalButRevision(&summary, stored)
	})
	if known {
		return
	}
	c.revision++
	summary.Revision = c.revision
	s.out = append(s.out, summary)
}

// never is a deadline that has passed.
const never = math.MinInt64
