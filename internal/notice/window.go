package notice

import (
	"maps"
	"slices"
	"time"
)

// buckets is the number of whole parts of a window; the current part is one more.
const buckets = 60

// MaxAhead is how far a time may lie in the future, for clocks differ a little. MaxLate is how old
// a conference or a feedback may be when it arrives.
const (
	MaxAhead = 5 * time.Minute
	MaxLate  = 24 * time.Hour
)

// Timing says how the time of a fact relates to now.
type Timing int

// The timings.
const (
	InTime Timing = iota
	Late          // longer than MaxLate ago
	Ahead         // further than MaxAhead in the future
)

// TimingOf returns the timing of a fact.
func TimingOf(at, now time.Time) Timing {
	switch {
	case at.Before(now.Add(-MaxLate)):
		return Late
	case at.After(now.Add(MaxAhead)):
		return Ahead
	}
	return InTime
}

// tally counts the samples of one reason, and those past its limit.
type tally struct{ count, total int }

// bucket is one part of a window.
type bucket struct {
	number  int64 // time divided by the width
	tallies [reasons]tally
}

// window counts the facts of one app. Old buckets are overwritten.
type window struct {
	width   time.Duration
	buckets [buckets + 1]bucket
}

func newWindow(length time.Duration) *window { return &window{width: max(length/buckets, time.Second)} }

func (w *window) number(at time.Time) int64 { return at.UnixNano() / int64(w.width) }

// add counts a fact. One of the near future counts now; one before the window counts nowhere.
func (w *window) add(at, now time.Time, f Fact, rules *Rules) {
	if at.After(now) {
		at = now
	}
	n := w.number(at)
	if n < w.number(now)-buckets {
		return
	}
	b := &w.buckets[n%int64(len(w.buckets))]
	if b.number != n {
		*b = bucket{number: n}
	}
	for i, reason := range Reasons {
		if f.Measured(reason) {
			b.tallies[i].total++
		}
		if f.Counts(reason, rules.Reasons[i].Limit) {
			b.tallies[i].count++
		}
	}
}

// sum returns the tallies of a window that ends now, and its start.
func (w *window) sum(now time.Time) (sums [reasons]tally, from time.Time) {
	last := w.number(now)
	for i := range w.buckets {
		b := &w.buckets[i]
		if b.number < last-buckets || b.number > last {
			continue
		}
		for r := range sums {
			sums[r].count += b.tallies[r].count
			sums[r].total += b.tallies[r].total
		}
	}
	return sums, time.Unix(0, (last-buckets)*int64(w.width)).UTC()
}

// Status is the state of one reason of one app between evaluations.
type Status struct {
	Episode     int   `json:"episode"` // notifications so far; it makes their ids
	Firing      bool  `json:"firing"`
	TriggeredMs int64 `json:"triggeredMs"`       // when the last notification left
	BelowMs     int64 `json:"belowMs,omitempty"` // since when the share is not above the threshold; 0: it is
}

// Change is a threshold that was passed, or recovered from.
type Change struct {
	AppID    string
	Reason   Reason
	Resolved bool
	Next     Status // after the change
	Count    int
	Total    int
	Rule     Rule
	From, To time.Time
}

// tracked is one app.
type tracked struct {
	window *window
	status map[Reason]Status
}

// Tracker counts the facts of apps and evaluates their rules. It is for one goroutine.
type Tracker struct {
	rules func(app string) *Rules
	apps  map[string]*tracked
}

// NewTracker returns a Tracker. Rules returns the rules of an app, never nil.
func NewTracker(rules func(app string) *Rules) *Tracker {
	return &Tracker{rules: rules, apps: map[string]*tracked{}}
}

func (t *Tracker) app(id string) *tracked {
	a := t.apps[id]
	if a == nil {
		a = &tracked{window: newWindow(t.rules(id).Window), status: map[Reason]Status{}}
		t.apps[id] = a
	}
	return a
}

// Add counts a fact of an app, whose time is the end of the conference or that of the feedback.
func (t *Tracker) Add(app string, at, now time.Time, f Fact) {
	t.app(app).window.add(at, now, f, t.rules(app))
}

// Restore sets the states of an app, as Statuses returned them.
func (t *Tracker) Restore(app string, statuses map[Reason]Status) {
	t.app(app).status = maps.Clone(statuses)
	if statuses == nil {
		t.app(app).status = map[Reason]Status{}
	}
}

// Statuses returns the states of an app.
func (t *Tracker) Statuses(app string) map[Reason]Status { return maps.Clone(t.app(app).status) }

// Retain forgets apps that are not kept.
func (t *Tracker) Retain(keep func(app string) bool) {
	maps.DeleteFunc(t.apps, func(id string, _ *tracked) bool { return !keep(id) })
}

// Commit makes a change the state of its app. A change that is not committed is found again.
func (t *Tracker) Commit(c Change) { t.app(c.AppID).status[c.Reason] = c.Next }

// Evaluate returns the changes at a time, in the order of apps and reasons.
func (t *Tracker) Evaluate(now time.Time) (changes []Change) {
	for _, id := range slices.Sorted(maps.Keys(t.apps)) {
		a, rules := t.apps[id], t.rules(id)
		sums, from := a.window.sum(now)
		for i, reason := range Reasons {
			c := Change{AppID: id, Reason: reason, Count: sums[i].count, Total: sums[i].total, Rule: rules.Reasons[i], From: from, To: now}
			if c.step(a.status, rules, now) {
				changes = append(changes, c)
			}
		}
	}
	return changes
}

// above reports whether the share of the window is above the threshold.
func (c *Change) above() bool {
	return c.Rule.Interval && c.Total >= c.Rule.MinSamples && float64(c.Count) > c.Rule.Threshold*float64(c.Total)
}

// step evaluates one reason and reports whether it changed. The time at which a share fell is
// noted at once: it is no change.
func (c *Change) step(states map[Reason]Status, rules *Rules, now time.Time) bool {
	s, ms := states[c.Reason], now.UnixMilli()
	s.TriggeredMs, s.BelowMs = min(s.TriggeredMs, ms), min(s.BelowMs, ms) // the clock was set back
	switch {
	case !s.Firing && c.above() && (s.Episode == 0 || ms-s.TriggeredMs >= rules.HoldDown.Milliseconds()):
		c.Next = Status{Episode: s.Episode + 1, Firing: true, TriggeredMs: ms}
		return true
	case s.Firing && c.above():
		s.BelowMs = 0
	case s.Firing && s.BelowMs == 0 && rules.Recovery > 0:
		s.BelowMs = ms
	case s.Firing && ms-s.BelowMs >= rules.Recovery.Milliseconds():
		c.Next = Status{Episode: s.Episode, TriggeredMs: s.TriggeredMs}
		c.Resolved = true
		return true
	}
	if s.Episode > 0 {
		states[c.Reason] = s
	}
	return false
}
