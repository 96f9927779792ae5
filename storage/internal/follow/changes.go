package follow

import (
	"math"

	"github.com/qosrtc/qos/storage"
)

// place is a conferenceID of an app. Changes of one place are merged: who follows a
// conference reads all of its place anew that the times name.
type place struct{ app, conference string }

// Changes are changes in the order in which their places came, one a place. The zero
// value is empty and ready to use.
type Changes struct {
	order []*storage.Change
	by    map[place]*storage.Change
}

// Add merges c into the change of its place: the union of the times, the sum of the
// records. A change without news, neither record nor summary, is left out.
func (s *Changes) Add(c storage.Change) { s.add(&c, math.MaxInt) }

// add reports whether there was room for c: there is where its place is known, or there
// are fewer than limit.
func (s *Changes) add(c *storage.Change, limit int) bool {
	if c.Records == 0 && !c.Summary {
		return true
	}
	at := place{c.AppID, c.ConferenceID}
	if have := s.by[at]; have != nil {
		merge(have, c)
		return true
	}
	if len(s.order) >= limit {
		return false
	}
	if s.by == nil {
		s.by = map[place]*storage.Change{}
	}
	own := *c
	s.by[at] = &own
	s.order = append(s.order, &own)
	return true
}

func merge(into, c *storage.Change) {
	if c.From.Before(into.From) {
		into.From = c.From
	}
	if c.To.After(into.To) {
		into.To = c.To
	}
	into.Records += c.Records
	into.Summary = into.Summary || c.Summary
}

// All returns the changes.
func (s *Changes) All() []storage.Change {
	out := make([]storage.Change, 0, len(s.order))
	for _, c := range s.order {
		out = append(out, *c)
	}
	return out
}

// pop takes the change that waits longest.
func (s *Changes) pop() (storage.Change, bool) {
	if len(s.order) == 0 {
		return storage.Change{}, false
	}
	c := s.order[0]
	s.order = s.order[1:]
	delete(s.by, place{c.AppID, c.ConferenceID})
	if len(s.order) == 0 {
		*s = Changes{} // gives back what a burst took
	}
	return *c, true
}
