package series

import (
	"cmp"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/semconv"
)

// OtherApp is the app of all records of apps beyond Config.MaxApps.
const OtherApp = "other"

// Set has the series of all metrics. It is safe for concurrent use.
type Set struct {
	cfg   Config
	began time.Time

	// sweep is held for writing while series are removed: a holder for reading may
	// use an entry without another lock than its own.
	sweep    sync.RWMutex
	families [numFamilies]table
	apps     apps
	issues   openIssues
	relays   relays
}

// table has the entries of one family.
type table struct {
	mu       sync.Mutex
	entries  map[values]*entry
	overflow map[string]*entry // by app
}

// apps are the label values of app. They leave with their last series.
type apps struct {
	mu    sync.Mutex
	known map[string]struct{}
}

// New returns an empty set that is made at now.
func New(cfg Config, now time.Time) *Set {
	s := &Set{cfg: cfg, began: now}
	for f := range s.families {
		s.families[f].entries = map[values]*entry{}
		s.families[f].overflow = map[string]*entry{}
	}
	s.apps.known = map[string]struct{}{}
	s.issues = openIssues{most: cmp.Or(cfg.maxOpenIssues, maxOpenIssues), open: map[string]*entry{}}
	return s
}

// app returns the label value of an app: itself, or OtherApp and false.
func (s *Set) app(id string) (label string, known bool) {
	s.apps.mu.Lock()
	defer s.apps.mu.Unlock()
	if _, ok := s.apps.known[id]; ok {
		return id, true
	}
	if len(s.apps.known) >= s.cfg.MaxApps {
		return OtherApp, false
	}
	s.apps.known[clone(id)] = struct{}{}
	return id, true
}

// entry returns the entry of label values, or the app's overflow entry beyond the budget.
func (s *Set) entry(f family, v values, nowMs int64) *entry {
	t := &s.families[f]
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[v]; e != nil {
		return e
	}
	if len(t.entries) < s.cfg.MaxSeries {
		for i := range v {
			v[i] = clone(v[i]) // records may share one large buffer
		}
		e := newEntry(f, v, false, nowMs)
		t.entries[v] = e
		return e
	}
	e := t.overflow[v[0]]
	if e == nil {
		app := clone(v[0])
		e = newEntry(f, values{app}, true, nowMs)
		t.overflow[app] = e
	}
	return e
}

// Sweep removes the series without a new value for the idle timeout, and returns their number by
// metric, in the order of semconv.Metrics. An open issue keeps its series.
func (s *Set) Sweep(now time.Time) (removed []int64) {
	removed = make([]int64, len(semconv.Metrics))
	if s.cfg.SeriesIdleTimeout <= 0 {
		return removed
	}
	before := now.Sub(s.began) - s.cfg.SeriesIdleTimeout
	s.sweep.Lock()
	defer s.sweep.Unlock()
	used := map[string]struct{}{}
	for f := range s.families {
		t := &s.families[f]
		gone := sweepMap(t.entries, family(f), before, used) + sweepMap(t.overflow, family(f), before, used)
		for _, m := range metrics[f] {
			removed[m.index] += gone
		}
	}
	for app := range s.apps.known {
		if _, ok := used[app]; !ok {
			delete(s.apps.known, app)
		}
	}
	return removed
}

func sweepMap[K comparable](entries map[K]*entry, f family, before time.Duration, used map[string]struct{}) (gone int64) {
	for key, e := range entries {
		if e.last >= before || f == famOpen && e.points[0].value != 0 {
			used[e.values[0]] = struct{}{}
			continue
		}
		delete(entries, key)
		gone++
	}
	return gone
}
