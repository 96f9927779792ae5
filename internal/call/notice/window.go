package notice

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// buckets is the number of whole parts of a window; the current part is one more.
const buckets = 60

// MaxAhead bounds the distance of a time in the future, since clocks differ a little. MaxLate bounds
// the age of a conference or a feedback at its arrival.
const (
	MaxAhead = 5 * time.Minute
	MaxLate  = 24 * time.Hour
)

// Timing is the relation of a fact's time to now.
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

// tally counts the samples of one part of a window, and those beyond the limit.
type tally struct {
	number       int64 // time divided by the width
	count, total uint32
}

// window counts the facts of one reason of one app. Old parts are overwritten.
type window struct {
	width time.Duration
	parts [buckets + 1]tally
	last  time.Time // latest time of a sample
}

func newWindow(length time.Duration) *window { return &window{width: max(length/buckets, time.Second)} }

func (w *window) number(at time.Time) int64 { return at.UnixNano() / int64(w.width) }

// add counts a sample. One in the near future counts now; one before the window is ignored.
func (w *window) add(at, now time.Time, counts bool) {
	if at.After(w.last) {
		w.last = at
	}
	if at.After(now) {
		at = now
	}
	n := w.number(at)
	if n < w.number(now)-buckets {
		return
	}
	part := &w.parts[n%int64(len(w.parts))]
	if part.number != n {
		*part = tally{number: n}
	}
	part.total++
	if counts {
		part.count++
	}
}

// sum returns the tallies of a window that ends now, and its start.
func (w *window) sum(now time.Time) (count, total int, from time.Time) {
	last := w.number(now)
	for i := range w.parts {
		if part := &w.parts[i]; part.number >= last-buckets && part.number <= last {
			count += int(part.count)
			total += int(part.total)
		}
	}
	return count, total, time.Unix(0, (last-buckets)*int64(w.width)).UTC()
}

// Status is the state of one reason of one app between evaluations.
type Status struct {
	Episode     int   `json:"episode"` // number of notifications so far; a part of their IDs
	Firing      bool  `json:"firing"`
	TriggeredMs int64 `json:"triggeredMs"`       // time of the last notification
	BelowMs     int64 `json:"belowMs,omitempty"` // time since which the share is not above the threshold; 0: it is above
}

// Change is a threshold that was passed, or recovered from.
type Change struct {
	AppID    string
	Reason   Reason
	Provider string // of PreCallFailures: the provider with that share; empty: all tests
	Resolved bool
	Next     Status // after the change
	Count    int
	Total    int
	Rule     Rule
	From, To time.Time
	Last     time.Time // latest time of a sample; zero where Total is 0
}

// maxProviders bounds the providers of one app that have a window of their own, maxStates those that have a state.
const (
	maxProviders = 64
	maxStates    = 256
)

// appState is the state of one app. A reason, and a provider of PreCallFailures, has a window from its first sample on.
type appState struct {
	windows   [reasons]*window
	providers map[string]*window
	status    map[Reason]Status // by Change.key
}

// About returns the reason of a change, with the provider if it is of a provider's share. An app has at most one change with it
// at a time.
func (c *Change) About() string { return string(c.key()) }

// key returns the key of the change's status: the reason, with the provider if there is one.
func (c *Change) key() Reason {
	if c.Provider == "" {
		return c.Reason
	}
	return c.Reason + "/" + Reason(c.Provider)
}

// Tracker counts the facts of apps and evaluates their rules. It is not safe for concurrent use.
type Tracker struct {
	rules func(app string) *Rules
	apps  map[string]*appState
}

// NewTracker returns a Tracker. rules MUST return the rules of an app, not nil.
func NewTracker(rules func(app string) *Rules) *Tracker {
	return &Tracker{rules: rules, apps: map[string]*appState{}}
}

func (t *Tracker) app(id string) *appState {
	a := t.apps[id]
	if a == nil {
		a = &appState{status: map[Reason]Status{}}
		t.apps[id] = a
	}
	return a
}

// Add counts a fact of an app. at is the end of the conference, or the time of the feedback or test.
func (t *Tracker) Add(app string, at, now time.Time, f Fact) {
	a, rules := t.app(app), t.rules(app)
	for i, reason := range Reasons {
		rule := &rules[i]
		if !rule.Interval || !f.Measured(reason) {
			continue
		}
		if a.windows[i] == nil {
			a.windows[i] = newWindow(rule.Window)
		}
		a.windows[i].add(at, now, f.Counts(reason, rule.Limit))
		if reason == PreCallFailures {
			a.addProviders(rule.Window, at, now, f.Providers)
		}
	}
}

// addProviders counts a pre-call test for each of its providers.
func (a *appState) addProviders(length time.Duration, at, now time.Time, failed map[string]bool) {
	for name, failed := range failed {
		w := a.providers[name]
		if w == nil {
			if len(a.providers) >= maxProviders {
				continue
			}
			if w = newWindow(length); a.providers == nil {
				a.providers = map[string]*window{}
			}
			a.providers[name] = w
		}
		w.add(at, now, failed)
	}
}

// Recount replaces the windows of an app by those in another tracker.
func (t *Tracker) Recount(app string, from *Tracker) {
	t.app(app).windows, t.app(app).providers = from.app(app).windows, from.app(app).providers
}

// Restore sets the states of an app to a result of Statuses.
func (t *Tracker) Restore(app string, statuses map[Reason]Status) {
	t.app(app).status = maps.Clone(statuses)
	if statuses == nil {
		t.app(app).status = map[Reason]Status{}
	}
}

// Statuses returns the states of an app.
func (t *Tracker) Statuses(app string) map[Reason]Status { return maps.Clone(t.app(app).status) }

// Retain drops the apps for which keep is false.
func (t *Tracker) Retain(keep func(app string) bool) {
	maps.DeleteFunc(t.apps, func(id string, _ *appState) bool { return !keep(id) })
}

// Commit applies a change to the state of its app. A change that is not committed is found again.
func (t *Tracker) Commit(c Change) { t.app(c.AppID).status[c.key()] = c.Next }

// With returns the states of an app after a change.
func (t *Tracker) With(c Change) map[Reason]Status {
	states := t.Statuses(c.AppID)
	states[c.key()] = c.Next
	return states
}

// Evaluate returns the changes at a time, in the order of apps and reasons.
func (t *Tracker) Evaluate(now time.Time) (changes []Change) {
	for _, id := range slices.Sorted(maps.Keys(t.apps)) {
		a, rules := t.apps[id], t.rules(id)
		for i, reason := range Reasons {
			c := Change{AppID: id, Reason: reason, Rule: rules[i], From: now.Add(-rules[i].Window), To: now}
			if w := a.windows[i]; w != nil {
				c.setTallies(w, now)
			} else if !a.status[reason].Firing {
				continue
			}
			if c.evaluate(a.status, now) {
				changes = append(changes, c)
			}
		}
		changes = append(changes, a.evaluateProviders(id, rules.Of(PreCallFailures), now)...)
	}
	return changes
}

// evaluateProviders returns the changes of the shares of providers, sorted by provider. It drops empty windows.
func (a *appState) evaluateProviders(app string, rule Rule, now time.Time) (changes []Change) {
	for _, name := range a.providerNames() {
		c := Change{AppID: app, Reason: PreCallFailures, Provider: name, Rule: rule, From: now.Add(-rule.Window), To: now}
		if w := a.providers[name]; w != nil {
			c.setTallies(w, now)
		}
		if c.evaluate(a.status, now) {
			changes = append(changes, c)
			continue
		}
		if c.Total == 0 {
			delete(a.providers, name)
		}
	}
	a.forgetStates()
	return changes
}

// forgetStates drops the oldest states of providers beyond maxStates. Others are kept, since a state has the number of the
// notifications so far.
func (a *appState) forgetStates() {
	for n := len(a.status) - reasons - maxStates; n > 0; n-- {
		oldest, found := Reason(""), false
		for key, s := range a.status {
			if strings.Contains(string(key), "/") && !s.Firing && (!found || s.TriggeredMs < a.status[oldest].TriggeredMs) {
				oldest, found = key, true
			}
		}
		delete(a.status, oldest)
	}
}

// providerNames returns the providers that have a window or a state, in order.
func (a *appState) providerNames() []string {
	names := slices.Collect(maps.Keys(a.providers))
	for key := range a.status {
		if name, ok := strings.CutPrefix(string(key), string(PreCallFailures)+"/"); ok && a.providers[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// setTallies sets the tallies of a window.
func (c *Change) setTallies(w *window, now time.Time) {
	if c.Count, c.Total, c.From = w.sum(now); c.Total > 0 {
		c.Last = w.last
	}
}

// above reports whether the share of the window is above the threshold.
func (c *Change) above() bool {
	return c.Rule.Interval && c.Total >= c.Rule.MinSamples && float64(c.Count) > c.Rule.Threshold*float64(c.Total)
}

// evaluate evaluates one reason and reports whether it changed. It stores the time at which a share
// fell below the threshold at once, which is no change.
func (c *Change) evaluate(states map[Reason]Status, now time.Time) bool {
	s, ms := states[c.key()], now.UnixMilli()
	s.TriggeredMs, s.BelowMs = min(s.TriggeredMs, ms), min(s.BelowMs, ms) // the clock was set back
	switch {
	case !s.Firing && c.above() && (s.Episode == 0 || ms-s.TriggeredMs >= c.Rule.HoldDown.Milliseconds()):
		c.Next = Status{Episode: s.Episode + 1, Firing: true, TriggeredMs: ms}
		return true
	case s.Firing && c.above():
		s.BelowMs = 0
	case s.Firing && s.BelowMs == 0 && c.Rule.Recovery > 0:
		s.BelowMs = ms
	case s.Firing && ms-s.BelowMs >= c.Rule.Recovery.Milliseconds():
		c.Next = Status{Episode: s.Episode, TriggeredMs: s.TriggeredMs}
		c.Resolved = true
		return true
	}
	if s.Episode > 0 {
		states[c.key()] = s
	}
	return false
}
