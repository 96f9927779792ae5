package join

import (
	"slices"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Matcher says as what the conferences of a search for anything were found.
type Matcher struct{ term.Wanted }

// NewMatcher is false for a search that is not for anything.
func NewMatcher(q storage.Query) (Matcher, bool) {
	for _, w := range term.Of(q) {
		if w.ConferenceID != "" {
			return Matcher{w}, true
		}
	}
	return Matcher{}, false
}

// ID takes in what a conference is called.
func (m Matcher) ID(c *storage.Conference) {
	if c.ConferenceID == m.ConferenceID {
		c.Matched = append(c.Matched, storage.MatchedConferenceID)
	}
}

// Term takes in a term of a conference that is between low and high.
func (m Matcher) Term(c *storage.Conference, t term.Term) {
	if word := t.Kind().String(); m.Fits(t) && !slices.Contains(c.Matched, word) {
		c.Matched = append(c.Matched, word)
	}
}
