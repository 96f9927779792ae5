package overview

import (
	"cmp"
	"maps"
	"slices"
)

// Values is counts of conferences by a value. The zero value counts none.
type Values struct {
	of    map[string]Group
	Other Group // of values beyond the limit; a conference may count several times
}

// Group is the counts of the conferences with one value.
type Group struct {
	Conferences int
	Failed      int
	Scores      Mean
}

func (g *Group) merge(o Group) {
	g.Conferences, g.Failed = g.Conferences+o.Conferences, g.Failed+o.Failed
	g.Scores.merge(o.Scores)
}

// Named is a value and its counts.
type Named struct {
	Value string
	Group
}

// Put adds the counts of a value.
func (v *Values) Put(value string, g Group) {
	have, ok := v.of[value]
	if !ok && len(v.of) >= maxValues {
		v.Other.merge(g)
		return
	}
	if v.of == nil {
		v.of = map[string]Group{}
	}
	have.merge(g)
	v.of[value] = have
}

func (v *Values) merge(o *Values) {
	v.Other.merge(o.Other)
	for _, value := range slices.Sorted(maps.Keys(o.of)) { // in one order: the limit may be reached
		v.Put(value, o.of[value])
	}
}

// Top returns the n values that the most conferences have, the first of equals by name, and the counts of the rest.
func (v *Values) Top(n int) (top []Named, rest Group) {
	top = make([]Named, 0, len(v.of))
	for value, g := range v.of {
		top = append(top, Named{value, g})
	}
	slices.SortFunc(top, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Conferences, a.Conferences), cmp.Compare(a.Value, b.Value))
	})
	rest = v.Other
	for _, one := range top[min(n, len(top)):] {
		rest.merge(one.Group)
	}
	return top[:min(n, len(top))], rest
}

// Split returns the counts of some values, and those of all others together.
func (v *Values) Split(values []string) (groups []Group, rest Group) {
	rest = v.Other
	for value, g := range v.of {
		if !slices.Contains(values, value) {
			rest.merge(g)
		}
	}
	for _, value := range values {
		groups = append(groups, v.of[value])
	}
	return groups, rest
}
