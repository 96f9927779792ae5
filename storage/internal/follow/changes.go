package follow

import "github.com/qosrtc/qos/storage"

// place is a conferenceID of an app. Changes of one place are merged: who follows a
// conference reads all of its place anew that the times name.
type place struct{ app, conference string }

// Changes are changes in the order in which their places came, one a place. The zero
// value is empty and ready to use.
type Changes struct {
	order []place
	by    map[place]storage.Change
}

// Add merges c into the change of its place: the union of the times, the sum of the
// records. A change without news, neither record nor summary, is left out.
func (s *Changes) Add(c storage.Change) {
	if c.Records == 0 && !c.Summary {
		return
	}
	at := place{c.AppID, c.ConferenceID}
	have, ok := s.by[at]
	if ok {
		c = merge(have, c)
	} else {
		s.order = append(s.order, at)
	}
	if s.by == nil {
		s.by = map[place]storage.Change{}
	}
	s.by[at] = c
}

func merge(a, b storage.Change) storage.Change {
	if b.From.Before(a.From) {
		a.From = b.From
	}
	if b.To.After(a.To) {
		a.To = b.To
	}
	a.Records += b.Records
	a.Summary = a.Summary || b.Summary
	return a
}

// All returns the changes.
func (s *Changes) All() []storage.Change {
	out := make([]storage.Change, 0, len(s.order))
	for _, at := range s.order {
		out = append(out, s.by[at])
	}
	return out
}

// room reports whether c can be added without more than limit places.
func (s *Changes) room(c storage.Change, limit int) bool {
	_, ok := s.by[place{c.AppID, c.ConferenceID}]
	return ok || len(s.order) < limit
}

// pop takes the change that waits longest.
func (s *Changes) pop() (storage.Change, bool) {
	if len(s.order) == 0 {
		return storage.Change{}, false
	}
	at := s.order[0]
	c := s.by[at]
	s.order = s.order[1:]
	delete(s.by, at)
	if len(s.order) == 0 {
		*s = Changes{} // gives back what a burst took
	}
	return c, true
}
