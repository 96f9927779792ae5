package live

import (
	"slices"

	"github.com/qosrtc/qos/internal/conference"
)

// counted are the participants of the revisions of a summary so far. Counters count each once,
// with the first revision that has it.
type counted struct {
	sessions []string // ascending
	unknown  bool     // the participants of an earlier revision are unknown: the next one adds none
}

// add marks the participants of a revision that are in no earlier one, and returns their number.
func (c *counted) add(s *conference.Summary) (added int) {
	unknown := c.unknown
	c.unknown = false
	for i := range s.Participants {
		p := &s.Participants[i]
		if p.New = c.insert(p.Session) && !unknown; p.New {
			added++
		}
	}
	return added
}

// addStored adds the participants of the stored revision. One that cannot be read has none.
func (c *counted) addStored(s *conference.Summary) {
	c.unknown = c.unknown || len(s.Participants) == 0 && len(c.sessions) == 0
	c.put(s)
}

func (c *counted) put(s *conference.Summary) {
	for i := range s.Participants {
		c.insert(s.Participants[i].Session)
	}
}

// insert reports whether the session is new.
func (c *counted) insert(session string) bool {
	i, found := slices.BinarySearch(c.sessions, session)
	if !found {
		c.sessions = slices.Insert(c.sessions, i, session)
	}
	return !found
}

func (c *counted) merge(o *counted) {
	c.unknown = c.unknown || o.unknown
	for _, session := range o.sessions {
		c.insert(session)
	}
}
