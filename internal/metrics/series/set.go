package series

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// OtherApp is the app of all records of apps beyond Config.MaxApps.
const OtherApp = "other"

// Set holds the series of all metrics. It is safe for concurrent use.
type Set struct {
	cfg   Config
	began time.Time

	// sweep is locked for writing while series are removed: a reader may use an entry with
	// the entry's lock alone.
	sweep    sync.RWMutex
	sweeps   int // number of sweeps so far
	families [numFamilies]table
	caches   sync.Pool // of *sourceCache
	apps     apps
	issues   openIssues
	relays   relays
}

// apps holds the label values of app. They are removed with their last series.
type apps struct {
	mu    sync.Mutex
	known map[string]struct{}
}

// New returns an empty set, created at now.
func New(cfg Config, now time.Time) *Set {
	s := &Set{cfg: cfg, began: now}
	for f := range s.families {
		s.families[f].apps, s.families[f].sizes = map[string]*share{}, map[int]int{}
	}
	s.apps.known = map[string]struct{}{}
	s.issues = openIssues{limit: cmp.Or(cfg.maxOpenIssues, maxOpenIssues), open: map[string]*entry{}}
	return s
}

// app returns the label value of an app: its ID, or OtherApp and false beyond Config.MaxApps.
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
	s.sweeps++
	used := map[string]struct{}{}
	for f := range s.families {
		t := &s.families[f]
		gone := t.sweep(family(f), before, used)
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

// sweep removes the entries without a new value since a time, and adds the apps that remain to used.
func (t *table) sweep(f family, before time.Duration, used map[string]struct{}) (removed int64) {
	for app, own := range t.apps {
		for key, e := range own.entries {
			if e.idle(f, before) {
				delete(own.entries, key)
				t.resize(len(own.entries), -1)
				removed++
			}
		}
		if own.overflow != nil && own.overflow.idle(f, before) {
			own.overflow = nil
			removed++
		}
		if len(own.entries) == 0 && own.overflow == nil {
			delete(t.apps, app)
			continue
		}
		used[app] = struct{}{}
	}
	t.unused = slices.DeleteFunc(t.unused, func(e *entry) bool { return !t.isUnused(e) })
	return removed
}

// idle reports whether an entry had no new value since a time. The gauge of an open issue is not idle.
func (e *entry) idle(f family, before time.Duration) bool {
	return e.last < before && (f != famOpen || e.points[0].value == 0)
}
