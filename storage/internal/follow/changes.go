package follow

import (
	"math"

	"github.com/qosrtc/qos/storage"
)

// conferenceKey is a conferenceID of an app. Changes with the same key are merged: a follower of a
// conference reads everything in From to To again.
type conferenceKey struct{ app, conference string }

// Changes are changes by conferenceKey, in the order of their first addition. The zero
// value is empty and ready to use.
type Changes struct {
	order []*storage.Change
	byKey map[conferenceKey]*storage.Change
}

// Add merges c into the change with its key: the union of the times, the sum of the
// records. A change without records and summary is ignored.
func (s *Changes) Add(c storage.Change) { s.add(&c, math.MaxInt) }

// add is Add with a limit of keys. It reports whether c was added: its key exists, or there
// were fewer than limit.
func (s *Changes) add(c *storage.Change, limit int) bool {
	if c.Records == 0 && !c.Summary {
		return true
	}
	key := conferenceKey{c.AppID, c.ConferenceID}
	if existing := s.byKey[key]; existing != nil {
		merge(existing, c)
		return true
	}
	if len(s.order) >= limit {
		return false
	}
	if s.byKey == nil {
		s.byKey = map[conferenceKey]*storage.Change{}
	}
	added := *c
	s.byKey[key] = &added
	s.order = append(s.order, &added)
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

// pop removes and returns the oldest change.
func (s *Changes) pop() (storage.Change, bool) {
	if len(s.order) == 0 {
		return storage.Change{}, false
	}
	c := s.order[0]
	s.order = s.order[1:]
	delete(s.byKey, conferenceKey{c.AppID, c.ConferenceID})
	if len(s.order) == 0 {
		*s = Changes{} // frees the memory of a burst
	}
	return *c, true
}
