package sqlstore

import (
	"slices"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// matcher fills Conference.Matched for a search with Query.Any.
type matcher struct{ term.Wanted }

// newMatcher returns the matcher of a query; false without Query.Any.
func newMatcher(q storage.Query) (matcher, bool) {
	for _, w := range term.Of(q) {
		if w.ConferenceID != "" {
			return matcher{w}, true
		}
	}
	return matcher{}, false
}

// matchID adds MatchedConferenceID if the conferenceID matches.
func (m matcher) matchID(c *storage.Conference) {
	if c.ConferenceID == m.ConferenceID {
		c.Matched = append(c.Matched, storage.MatchedConferenceID)
	}
}

// matchTerm adds the kind of a term of the conference. The term is between low and high.
func (m matcher) matchTerm(c *storage.Conference, t term.Term) {
	if word := t.Kind().String(); m.Fits(t) && !slices.Contains(c.Matched, word) {
		c.Matched = append(c.Matched, word)
	}
}
