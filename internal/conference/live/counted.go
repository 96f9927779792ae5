package live

import (
	"slices"

	"github.com/qosrtc/qos/internal/conference"
)

// counted are the participants of the revisions of a summary so far. Counters add each once,
// whichever revision they appear in first.
type counted struct {
	sessions []string // ascending
	unknown  bool     // a revision exists whose participants are not known: the next one has them all
}

// add returns how many participants of a revision are in no earlier one.
func (c *counted) add(s *conference.Summary) (added int) {
	unknown, before := c.unknown, len(c.sessions)
	c.unknown = false
	c.put(s)
	if unknown {
		return 0
	}
	return len(c.sessions) - before
}

// recall takes the revision that the store has. One that cannot be read has no participants.
func (c *counted) recall(s *conference.Summary) {
	c.unknown = c.unknown || len(s.Participants) == 0 && len(c.sessions) == 0
	c.put(s)
}

func (c *counted) put(s *conference.Summary) {
	for i := range s.Participants {
		c.insert(s.Participants[i].Session)
	}
}

func (c *counted) insert(session string) {
	if i, found := slices.BinarySearch(c.sessions, session); !found {
		c.sessions = slices.Insert(c.sessions, i, session)
	}
}

func (c *counted) merge(o *counted) {
	c.unknown = c.unknown || o.unknown
	for _, session := range o.sessions {
		c.insert(session)
	}
}
