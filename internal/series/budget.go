package series

import (
	"sync"
	"time"
)

// table has the entries of one family. Its budget is shared max-min fairly: while there is room, an
// app takes what it needs. When there is none, a new series of an app takes the room of a series of
// the app that has most, if that app still has as many afterwards. So an app that needs less than
// an equal share has a series for all that it sends, and the others have equal parts of the rest.
type table struct {
	mu     sync.Mutex
	size   int // entries of all apps, without those of overflow
	apps   map[string]*share
	sizes  map[int]int // apps by their number of entries, if any
	most   int         // entries of the app that has most
	unused []*entry    // that begin made; some count since, or are gone
}

// share is what one app has of a table.
type share struct {
	entries  map[values]*entry
	overflow *entry // nil: none so far
}

// find returns the share of an app. The caller holds the lock.
func (t *table) find(app string) *share {
	own := t.apps[app]
	if own == nil {
		own = &share{entries: map[values]*entry{}}
		t.apps[clone(app)] = own
	}
	return own
}

// entry returns the entry of label values, or the app's overflow entry beyond its share. It
// reports whether another app's series made room.
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
			return own.beyond(f, v[0], nowMs), false
		}
	}
	return t.add(f, own, v, nowMs), displaced
}

// add makes an entry of an app.
func (t *table) add(f family, own *share, v values, nowMs int64) *entry {
	for i := range v {
		v[i] = clone(v[i]) // records may share one large buffer
	}
	e := newEntry(f, v, false, nowMs)
	own.entries[v] = e
	t.resized(len(own.entries), 1)
	return e
}

// begin makes the entry of label values while there is room, so that its series are 0 before they count,
// and keeps it from becoming idle. It makes room for each entry that counts.
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

// dropUnused removes an entry that begin made and that counts nothing. It reports whether there was one.
func (t *table) dropUnused() bool {
	for n := len(t.unused); n > 0; n = len(t.unused) {
		e := t.unused[n-1]
		t.unused = t.unused[:n-1]
		if t.isUnused(e) {
			own := t.apps[e.values[0]]
			delete(own.entries, e.values)
			t.resized(len(own.entries), -1)
			return true
		}
	}
	return false
}

func (t *table) isUnused(e *entry) bool {
	own := t.apps[e.values[0]]
	return e.unused && own != nil && own.entries[e.values] == e
}

// resized notes that an app has one entry more or less, and has n now.
func (t *table) resized(n, change int) {
	t.size += change
	if before := n - change; before > 0 {
		if t.sizes[before]--; t.sizes[before] == 0 {
			delete(t.sizes, before)
		}
	}
	if n > 0 {
		t.sizes[n]++
	}
	if n > t.most || t.sizes[t.most] == 0 {
		t.most = n // the others have no more
	}
}

// beyond returns the overflow entry of an app.
func (s *share) beyond(f family, app string, nowMs int64) *entry {
	if s.overflow == nil {
		s.overflow = newEntry(f, values{clone(app)}, true, nowMs)
	}
	return s.overflow
}

// displace removes a series of the app that has most, unless it then has fewer than own with a new
// one. Its further records count in the overflow entry of its app. An app beyond its share is
// refused without a search: each of its records may ask.
func (t *table) displace(f family, own *share, nowMs int64) bool {
	if t.most <= len(own.entries)+1 {
		return false
	}
	for _, s := range t.apps {
		if len(s.entries) == t.most {
			e := s.idlest()
			e.moveTo(s.beyond(f, e.values[0], nowMs), f)
			delete(s.entries, e.values)
			t.resized(len(s.entries), -1)
			return true
		}
	}
	return false
}

// samplesToDisplace bounds the entries of which the one without a new value for the longest time
// makes room: the search must not take longer the larger the budget is.
const samplesToDisplace = 64

// idlest returns the entry that had no new value for the longest time, of some that chance picks.
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
