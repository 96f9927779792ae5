package digest

import (
	"slices"
	"strings"
)

// In returns what reports whether the filter selects a conference of c. Those without a digest are not selected.
func (f *Filter) In(c *Columns) func(r *Row) bool {
	m := columnFilter{filter: f, columns: c}
	m.outcome, m.label, m.cause = m.text(f.Outcome), m.text(f.Label), m.text(f.Cause)
	m.function, m.issue = m.text(f.Function), m.text(f.Issue)
	m.members(Site, f.SiteID)
	m.members(ApplicationVersion, f.ApplicationVersion)
	m.browsers()
	if m.never {
		return func(*Row) bool { return false }
	}
	return m.match
}

// columnFilter is a filter whose texts and facts are numbers of columns.
type columnFilter struct {
	filter                                 *Filter
	columns                                *Columns
	outcome, label, cause, function, issue uint32       // texts; 0: any
	someone                                [][][]uint32 // each: facts of one member, one of each list
	never                                  bool         // a text or a fact occurs nowhere
}

func (m *columnFilter) text(text string) uint32 {
	if text == "" {
		return 0
	}
	number, ok := m.columns.Text(text)
	m.never = m.never || !ok
	return number
}

// find returns the facts of an attribute whose value is one that is wanted.
func (m *columnFilter) find(a Attribute, want func(value string) bool) (facts []uint32) {
	for i, f := range m.columns.facts {
		if f.Attribute == a && want(m.columns.texts[f.Value]) {
			facts = append(facts, uint32(i))
		}
	}
	m.never = m.never || len(facts) == 0
	return facts
}

func (m *columnFilter) members(a Attribute, value string) {
	if value != "" {
		m.someone = append(m.someone, [][]uint32{m.find(a, func(v string) bool { return v == value })})
	}
}

// browsers requires one member with the family and the major version.
func (m *columnFilter) browsers() {
	var all [][]uint32
	if f := m.filter.Browser; f != "" {
		all = append(all, m.find(Browser, func(v string) bool { return v == f }))
	}
	if major := m.filter.BrowserVersion; major != "" {
		all = append(all, m.find(BrowserVersion, func(v string) bool {
			_, after, ok := strings.Cut(v, " ")
			return ok && after == major
		}))
	}
	if len(all) > 0 {
		m.someone = append(m.someone, all)
	}
}

func (m *columnFilter) match(r *Row) bool {
	f := m.filter
	switch {
	case r.Pending,
		f.Failed && !r.Failed,
		m.outcome != 0 && m.outcome != r.Outcome,
		m.label != 0 && m.label != r.Label,
		m.cause != 0 && m.cause != r.Cause,
		f.MinMOS > 0 && r.MOS < f.MinMOS,
		f.MaxMOS > 0 && (r.MOS == 0 || r.MOS > f.MaxMOS),
		f.MinSetupMs > 0 && m.longestSetup(r) < f.MinSetupMs,
		f.AboveRTTMs > 0 && r.RTTMs <= f.AboveRTTMs,
		f.AboveLoss > 0 && r.LossFraction <= f.AboveLoss,
		f.MaxRating > 0 && (r.WorstRating == 0 || r.WorstRating > f.MaxRating),
		m.function != 0 && !named(m.columns.Errors(r), m.function),
		m.issue != 0 && !named(m.columns.Issues(r), m.issue):
		return false
	}
	for _, facts := range m.someone {
		if !m.hasMember(r, facts) {
			return false
		}
	}
	return true
}

// longestSetup returns the longest setup delay in ms; 0 without one. They are ascending.
func (m *columnFilter) longestSetup(r *Row) int64 {
	all := m.columns.Setup(r)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}

func named(counts []NamedCount, name uint32) bool {
	return slices.ContainsFunc(counts, func(c NamedCount) bool { return c.Name == name })
}

// hasMember reports whether one member has one fact of each list.
func (m *columnFilter) hasMember(r *Row, lists [][]uint32) (found bool) {
	m.columns.Members(r, func(member []uint32) bool {
		found = !slices.ContainsFunc(lists, func(list []uint32) bool {
			return !slices.ContainsFunc(list, func(f uint32) bool { return slices.Contains(member, f) })
		})
		return !found
	})
	return found
}
