package readapi

import (
	"net/url"

	"github.com/qosrtc/qos/internal/call/digest"
)

// prefixBaseline begins the parameters of the baseline.
const prefixBaseline = "baseline."

// conferenceSet is the conferences of an app in a time that a filter selects.
type conferenceSet struct {
	period
	digest.Filter
	given url.Values // the parameters that define it
}

// defining are the parameters that define a set of conferences: in which app and time, with which participants, and what happened.
var defining = parametersOf[conferenceSet]()

// sets reads the set and the baseline of a comparison. The baseline has the parameters of the set but for those that
// the request gives with the prefix. Without such parameters it is what remains of the set without its conditions:
// all conferences of the same time with such participants.
func (p *parameters) sets() (set, baseline conferenceSet) {
	given, other, own := url.Values{}, url.Values{}, false
	for _, d := range defining {
		if v := p.raw(d.name); v != "" {
			given.Set(d.name, v)
		}
		own = own || p.values.Has(prefixBaseline+d.name)
	}
	for _, d := range defining {
		switch v := p.raw(prefixBaseline + d.name); {
		case v != "":
			other.Set(d.name, v)
		case given.Has(d.name) && !p.values.Has(prefixBaseline+d.name) && (own || d.role&roleOutcome == 0):
			other.Set(d.name, given.Get(d.name))
		}
	}
	return p.conferenceSet(given, ""), p.conferenceSet(other, prefixBaseline)
}

// conferenceSet reads one set. What both have is read without a fault before the baseline is, so a fault of the
// baseline is one of its own parameters.
func (p *parameters) conferenceSet(given url.Values, prefix string) conferenceSet {
	s, one := conferenceSet{given: given}, &parameters{values: given}
	one.read(&s)
	one.counted(s.period)
	s.Outcome, s.Failed = outcomeOf(s.Outcome)
	p.adopt(one, prefix)
	return s
}

// in returns what reports whether a conference of c is in the set.
func (s *conferenceSet) in(c *digest.Columns) func(r *digest.Row) bool {
	matches := s.In(c)
	app, known := c.Text(s.AppID)
	return func(r *digest.Row) bool {
		return (s.AppID == "" || known && r.App == app) && !r.Start.Before(s.From) && r.Start.Before(s.To) && matches(r)
	}
}

// search returns the link that lists the conferences of the set.
func (s *conferenceSet) search() string { return "search?" + s.given.Encode() }
