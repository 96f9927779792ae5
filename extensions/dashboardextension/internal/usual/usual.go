// Package usual says what is usual for a user, and what was different in one call.
//
// A value is usual if at least 60 % of the earlier calls with a value of its attribute have it, and there are at least
// five such calls. A call may have several values of an attribute: a user has two headsets, or joined twice.
//
// A call differs in an attribute in two cases. It has none of the attribute's usual values. Or it has values that none
// of at least five earlier calls had.
package usual

import (
	"cmp"
	"slices"
)

const (
	// MinCalls is the fewest earlier calls that say what is usual.
	MinCalls = 5
	// MinShare is the least share of them that has a usual value.
	MinShare = 0.6
)

// Call is the values of each attribute of one call, each once. An attribute without a value is unknown.
type Call map[string][]string

// Add adds a value of an attribute. An empty value is unknown.
func (c Call) Add(attribute, value string) {
	if value != "" && !slices.Contains(c[attribute], value) {
		c[attribute] = append(c[attribute], value)
	}
}

// Value is a usual value of an attribute.
type Value struct {
	Attribute string `json:"attribute"` // name of the attribute, such as networkType
	Value     string `json:"value"`     // a usual value
	Calls     int    `json:"calls"`     // calls that have it
	Of        int    `json:"of"`        // calls with any value of the attribute
}

// Difference is an attribute in which a call is unlike the earlier ones.
type Difference struct {
	Attribute string   `json:"attribute"` // name of the attribute, such as networkType
	Values    []string `json:"values"`    // of the call that are not usual, in their order in the call
	Usual     []string `json:"usual"`     // usual values, the most frequent first; none: every value was different before
}

// counts is how many calls have each value of an attribute.
type counts struct {
	known int
	of    map[string]int
}

// usual returns whether n calls are enough.
func (c *counts) usual(n int) bool {
	return c.known >= MinCalls && float64(n) >= MinShare*float64(c.known)
}

// values returns the usual values, the most frequent first, the first of equals by its text.
func (c *counts) values() (out []string) {
	for value, n := range c.of {
		if c.usual(n) {
			out = append(out, value)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(c.of[b], c.of[a]), cmp.Compare(a, b)) })
	return out
}

func count(calls []Call, attribute string) *counts {
	c := &counts{of: map[string]int{}}
	for _, call := range calls {
		if len(call[attribute]) > 0 {
			c.known++
		}
		for _, value := range call[attribute] {
			c.of[value]++
		}
	}
	return c
}

// Of returns the usual values of some calls, in the order of the attributes.
func Of(calls []Call, attributes []string) []Value {
	out := []Value{}
	for _, attribute := range attributes {
		c := count(calls, attribute)
		for _, value := range c.values() {
			out = append(out, Value{attribute, value, c.of[value], c.known})
		}
	}
	return out
}

// Differences returns in which attributes a call differs from the earlier ones, in the order of the attributes.
func Differences(call Call, earlier []Call, attributes []string) []Difference {
	out := []Difference{}
	for _, attribute := range attributes {
		values := call[attribute]
		c := count(earlier, attribute)
		if len(values) == 0 || c.known < MinCalls {
			continue
		}
		usual := c.values()
		isNew := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return c.of[v] > 0 })
		switch {
		case len(usual) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(usual, v) }):
			out = append(out, Difference{attribute, values, usual})
		case len(isNew) > 0:
			out = append(out, Difference{attribute, isNew, append([]string{}, usual...)})
		}
	}
	return out
}
