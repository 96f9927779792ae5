package sqlstore

import (
	"slices"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// matcher says as what the conferences of a search for anything were found.
type matcher struct{ term.Wanted }

// newMatcher is false for a search that is not for anything.
func newMatcher(q storage.Query) (matcher, bool) {
	for _, w := range term.Of(q) {
		if w.ConferenceID != "" {
			return matcher{w}, true
		}
	}
	return matcher{}, false
}

// id takes in what a conference is called.
func (m matcher) id(c *storage.Conference) {
	if c.ConferenceID == m.ConferenceID {
		c.Matched = append(c.Matched, storage.MatchedConferenceID)
	}
}

// term takes in a term of a conference that is between low and high.
func (m matcher) term(c *storage.Conference, t term.Term) {
	if word := t.Kind().String(); m.Fits(t) && !slices.Contains(c.Matched, word) {
		c.Matched = append(c.Matched, word)
	}
}
