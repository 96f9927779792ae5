package series

import (
	"sync"
	"time"
)

// table holds the entries of one family. Its budget is shared max-min fairly: below the budget an app may
// create any series. At the budget a new series of an app displaces a series of the app that has most,
// if that app still has at least as many afterwards. So an app that needs less than an equal share has
// all its series, and the others have equal parts of the rest.
type table struct {
	mu      sync.Mutex
	size    int // entries of all apps, without overflow entries
	apps    map[string]*share
	sizes   map[int]int // number of apps by their number of entries, if that is positive
	largest int         // entries of the app that has most
	unused  []*entry    // created by begin; some are used or removed by now
}

// share holds the entries of one app in a table.
type share struct {
	entries  map[values]*entry
	overflow *entry // nil: none so far
}

// find returns the share of an app. The caller MUST hold the lock.
func (t *table) find(app string) *share {
	own := t.apps[app]
	if own == nil {
		own = &share{entries: map[values]*entry{}}
		t.apps[clone(app)] = own
	}
	return own
}

// entry returns the entry of label values, or the app's overflow entry beyond its share. It reports
// whether another app's series was displaced.
func (t *table) entry(f family, v values, most int, nowMs int64) (e *entry, displaced bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.find(v[0])
	if e := own.entries[v]; e != nil {
		e.unused = false
		return e, false
	}
	if t.size >= most && !t.dropUnused() {
		if displaced = t.displace(f, own, nowMs); !displaced {
			return own.overflowEntry(f, v[0], nowMs), false
		}
	}
	return t.add(f, own, v, nowMs), displaced
}

// add creates an entry of an app.
func (t *table) add(f family, own *share, v values, nowMs int64) *entry {
	for i := range v {
		v[i] = clone(v[i]) // records may share one large buffer
	}
	e := newEntry(f, v, false, nowMs)
	own.entries[v] = e
	t.resize(len(own.entries), 1)
	return e
}

// begin creates the entry of label values if the budget allows it, so that its series are 0 before they
// count, and keeps it from becoming idle. Any entry that counts displaces it.
func (t *table) begin(f family, v values, most int, nowMs int64, age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.find(v[0])
	e := own.entries[v]
	if e == nil {
		if t.size >= most {
			return
		}
		e = t.add(f, own, v, nowMs)
		e.unused = true
		t.unused = append(t.unused, e)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = max(e.last, age)
}

// dropUnused removes an entry that begin created and that counts nothing. It reports whether there was one.
func (t *table) dropUnused() bool {
	for n := len(t.unused); n > 0; n = len(t.unused) {
		e := t.unused[n-1]
		t.unused = t.unused[:n-1]
		if t.isUnused(e) {
			own := t.apps[e.values[0]]
			delete(own.entries, e.values)
			t.resize(len(own.entries), -1)
			return true
		}
	}
	return false
}

func (t *table) isUnused(e *entry) bool {
	own := t.apps[e.values[0]]
	return e.unused && own != nil && own.entries[e.values] == e
}

// resize updates the sizes after an app's number of entries changed by change, 1 or -1, to n.
func (t *table) resize(n, change int) {
	t.size += change
	if before := n - change; before > 0 {
		if t.sizes[before]--; t.sizes[before] == 0 {
			delete(t.sizes, before)
		}
	}
	if n > 0 {
		t.sizes[n]++
	}
	if n > t.largest || t.sizes[t.largest] == 0 {
		t.largest = n // the others have no more
	}
}

// overflowEntry returns the overflow entry of an app, and creates it if there is none.
func (s *share) overflowEntry(f family, app string, nowMs int64) *entry {
	if s.overflow == nil {
		s.overflow = newEntry(f, values{clone(app)}, true, nowMs)
	}
	return s.overflow
}

// displace removes an entry of the app that has most, unless that app would then have fewer than own
// with a new one. Later records of the entry count in the overflow entry of its app. For an app beyond
// its share it returns false without a search, since each of its records may call it.
func (t *table) displace(f family, own *share, nowMs int64) bool {
	if t.largest <= len(own.entries)+1 {
		return false
	}
	for _, s := range t.apps {
		if len(s.entries) == t.largest {
			e := s.idlest()
			e.moveTo(s.overflowEntry(f, e.values[0], nowMs), f)
			delete(s.entries, e.values)
			t.resize(len(s.entries), -1)
			return true
		}
	}
	return false
}

// samplesToDisplace bounds the entries among which displace searches, so that the search does not take
// longer with a larger budget.
const samplesToDisplace = 64

// idlest returns the entry whose newest value is the oldest, among samplesToDisplace random ones.
func (s *share) idlest() (idlest *entry) {
	n := 0
	for _, e := range s.entries { // the order is random
		if idlest == nil || e.newest() < idlest.newest() {
			idlest = e
		}
		if n++; n == samplesToDisplace {
			break
		}
	}
	return idlest
}
