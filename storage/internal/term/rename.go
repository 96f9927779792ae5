package term

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

// MaxRenames bounds the renames of one participant; the newest stay.
const MaxRenames = 16

// Rename is what a session's own user is called in one conference from a record on. The order
// of several is that of their numbers.
type Rename struct {
	Seq  int64
	Idx  int
	Name storage.Name
}

// RenamedTo returns the name that a record of activity gives its session's user, and false
// where it gives none.
func RenamedTo(name string, attributes map[string]any) (storage.Name, bool) {
	if name != semconv.EventEvent {
		return storage.Name{}, false
	}
	named := named(attributes)
	return storage.Name{UserID: named.User.Name, UserAlias: named.User.Alias}, named.Of == "local" && named.User.Name != ""
}

// Recorded is what the records of activity of one session add to their conference.
type Recorded struct {
	Terms   []Term
	Renames []Rename
}

// RecordedBy returns what a record of activity adds. The caller does not change it.
func (r *Reader) RecordedBy(record *storage.Record) (recorded Recorded) {
	recorded.Terms = r.OfRecord(record.Name, record.Attributes)
	if name, ok := RenamedTo(record.Name, record.Attributes); ok {
		recorded.Renames = []Rename{{int64(record.Seq), record.Index, name}} // Seq is checked before
	}
	return recorded
}

// Add adds what others say: each term once.
func (s *Recorded) Add(o Recorded) {
	for _, t := range o.Terms {
		if !slices.Contains(s.Terms, t) {
			s.Terms = append(s.Terms, t)
		}
	}
	s.Renames = append(s.Renames, o.Renames...)
}

// AddRename adds the next rename, in order of their numbers, to the session's participant of a
// conference, whose participants are in order of session id.
func AddRename(c *storage.Conference, session string, name storage.Name) {
	i, found := slices.BinarySearchFunc(c.Participants, session, func(p storage.Participant, id string) int {
		return cmp.Compare(p.Session.ID, id)
	})
	if found {
		c.Participants[i].Renames = append(c.Participants[i].Renames, name)
	}
}
