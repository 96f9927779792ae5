package readapi

import (
	"net/url"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/digest"
)

// prefixBaseline begins the parameters of the baseline.
const prefixBaseline = "baseline."

// Parameters that define a set of conferences: in which app and time, with which participants, and what happened.
var (
	framing    = []string{"app", "from", "to"}                                                                                                          //nolint:gochecknoglobals // a constant
	population = []string{"site", "version", "browser", "browserVersion"}                                                                               //nolint:gochecknoglobals // a constant
	conditions = []string{"outcome", "quality", "cause", "scoreFrom", "scoreTo", "setupFrom", "rttAbove", "lossAbove", "ratingTo", "function", "issue"} //nolint:gochecknoglobals // a constant
	defining   = slices.Concat(framing, population, conditions)                                                                                         //nolint:gochecknoglobals // a constant
)

// conferenceSet is the conferences of an app in a time that a filter selects.
type conferenceSet struct {
	app      string // empty: all
	from, to time.Time
	filter   digest.Filter
	given    url.Values // the parameters that define it
}

// sets reads the set and the baseline of a comparison. The baseline has the parameters of the set but for those that
// the request gives with the prefix. Without such parameters it is what remains of the set without its conditions:
// all conferences of the same time with such participants.
func (p *parameters) sets() (set, baseline conferenceSet) {
	given, other, own := url.Values{}, url.Values{}, false
	for _, name := range defining {
		if v := p.raw(name); v != "" {
			given.Set(name, v)
		}
		own = own || p.values.Has(prefixBaseline+name)
	}
	for _, name := range defining {
		switch v := p.raw(prefixBaseline + name); {
		case v != "":
			other.Set(name, v)
		case given.Has(name) && !p.values.Has(prefixBaseline+name) && (own || !slices.Contains(conditions, name)):
			other.Set(name, given.Get(name))
		}
	}
	return p.conferenceSet(given, ""), p.conferenceSet(other, prefixBaseline)
}

// conferenceSet reads one set. What both have is read without a fault before the baseline is, so a fault of the
// baseline is one of its own parameters.
func (p *parameters) conferenceSet(given url.Values, prefix string) conferenceSet {
	one := &parameters{values: given}
	s := conferenceSet{app: one.text("app"), from: one.time("from"), to: one.time("to"), filter: one.digestFilter(), given: given}
	one.span(s.from, s.to)
	if bad, ok := one.err.(*badParameter); ok { //nolint:errorlint // fail makes it
		p.fail(prefix+bad.field, bad.message)
	}
	return s
}

// in returns what reports whether a conference of c is in the set.
func (s *conferenceSet) in(c *digest.Columns) func(r *digest.Row) bool {
	matches := s.filter.In(c)
	app, known := c.Text(s.app)
	return func(r *digest.Row) bool {
		return (s.app == "" || known && r.App == app) && !r.Start.Before(s.from) && r.Start.Before(s.to) && matches(r)
	}
}

// search returns the link that lists the conferences of the set.
func (s *conferenceSet) search() string { return "search?" + s.given.Encode() }
