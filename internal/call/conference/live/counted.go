package live

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
)

// countedParticipants holds the participants of all revisions of a summary so far. Counters count each once,
// with its first revision.
type countedParticipants struct {
	sessions []string // ascending
	unknown  bool     // the participants of an earlier revision are unknown: the next one adds none
}

// add marks the participants of a revision that are in no earlier one, and returns their number.
func (c *countedParticipants) add(s *conference.Summary) (added int) {
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

// addStored adds the participants of the stored revision. If it cannot be read, they are unknown.
func (c *countedParticipants) addStored(s *conference.Summary) {
	c.unknown = c.unknown || len(s.Participants) == 0 && len(c.sessions) == 0
	c.put(s)
}

func (c *countedParticipants) put(s *conference.Summary) {
	for i := range s.Participants {
		c.insert(s.Participants[i].Session)
	}
}

// insert reports whether the session is new.
func (c *countedParticipants) insert(session string) bool {
	i, found := slices.BinarySearch(c.sessions, session)
	if !found {
		c.sessions = slices.Insert(c.sessions, i, session)
	}
	return !found
}

func (c *countedParticipants) merge(o *countedParticipants) {
	c.unknown = c.unknown || o.unknown
	for _, session := range o.sessions {
		c.insert(session)
	}
}
