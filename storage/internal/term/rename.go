package term

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// MaxRenames bounds the renames of one participant; the newest are kept.
const MaxRenames = 16

// Rename is a name that a record of activity gives the session's own user, in one conference, from that record on.
// Renames are ordered by Seq and Idx.
type Rename struct {
	Seq  int64
	Idx  int
	Name storage.Name
}

// RenamedTo returns the name that a record of activity gives its session's user; false
// if it gives none.
func RenamedTo(name string, attributes map[string]any) (storage.Name, bool) {
	if name != semconv.EventEvent {
		return storage.Name{}, false
	}
	naming := namedUser(attributes)
	return storage.Name{UserID: naming.User.Name, UserAlias: naming.User.Alias}, naming.Of == "local" && naming.User.Name != ""
}

// Recorded is the terms and renames that records of activity of one session add to their conference.
type Recorded struct {
	Terms   []Term
	Renames []Rename
}

// RecordedBy returns the terms and renames of a record of activity. The caller must not change them.
func (r *Reader) RecordedBy(record *storage.Record) (recorded Recorded) {
	recorded.Terms = r.OfRecord(record.Name, record.Attributes)
	if name, ok := RenamedTo(record.Name, record.Attributes); ok {
		recorded.Renames = []Rename{{int64(record.Seq), record.Index, name}} // Seq is checked before
	}
	return recorded
}

// Add adds the terms and renames of o, each term once.
func (s *Recorded) Add(o Recorded) {
	for _, t := range o.Terms {
		if !slices.Contains(s.Terms, t) {
			s.Terms = append(s.Terms, t)
		}
	}
	s.Renames = append(s.Renames, o.Renames...)
}

// AddRename adds the next rename of a session to its participant. The caller adds renames in order of
// (Seq, Idx). The participants of c are in order of session id.
func AddRename(c *storage.Conference, session string, name storage.Name) {
	i, found := slices.BinarySearchFunc(c.Participants, session, func(p storage.Participant, id string) int {
		return cmp.Compare(p.Session.ID, id)
	})
	if found {
		c.Participants[i].Renames = append(c.Participants[i].Renames, name)
	}
}
