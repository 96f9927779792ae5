package overview

import (
	"cmp"
	"maps"
	"slices"
)

// Values holds counts of conferences by a value. The zero value is empty.
type Values struct {
	groups map[string]Group
	Other  Group // of values beyond the limit; a conference may count several times
}

// Group holds the counts of the conferences with one value.
type Group struct {
	Conferences int
	Failed      int
	Scores      Mean
}

func (g *Group) merge(o Group) {
	g.Conferences, g.Failed = g.Conferences+o.Conferences, g.Failed+o.Failed
	g.Scores.merge(o.Scores)
}

// Named is a value with its counts.
type Named struct {
	Value string
	Group
}

// Put adds the counts of a value.
func (v *Values) Put(value string, g Group) {
	have, ok := v.groups[value]
	if !ok && len(v.groups) >= maxValues {
		v.Other.merge(g)
		return
	}
	if v.groups == nil {
		v.groups = map[string]Group{}
	}
	have.merge(g)
	v.groups[value] = have
}

func (v *Values) merge(o *Values) {
	v.Other.merge(o.Other)
	for _, value := range slices.Sorted(maps.Keys(o.groups)) { // the order decides which values are beyond the limit
		v.Put(value, o.groups[value])
	}
}

// Top returns the n values of the most conferences, sorted by their number, then by value, and the counts of the rest.
func (v *Values) Top(n int) (top []Named, rest Group) {
	top = make([]Named, 0, len(v.groups))
	for value, g := range v.groups {
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

// Split returns the counts of some values, in their order, and the sum of all others.
func (v *Values) Split(values []string) (groups []Group, rest Group) {
	rest = v.Other
	for value, g := range v.groups {
		if !slices.Contains(values, value) {
			rest.merge(g)
		}
	}
	for _, value := range values {
		groups = append(groups, v.groups[value])
	}
	return groups, rest
}
