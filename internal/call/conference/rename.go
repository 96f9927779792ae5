package conference

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
)

// rename is a userIDChange.
type rename struct {
	rank        uint64
	name, alias string
}

// renames are the renames of a participant, or of a fabric's remote end: the newest maxUserIDs,
// ascending by rank. The list is a function of the set of records.
type renames []rename

// apply adds the rename of a userIDChange of that type, local or remote. It returns the number
// of older renames that it dropped.
func (l *renames) apply(e *event.Event, userIDType string) (truncated int) {
	d := e.Data
	if e.Kind != event.KindEvent || e.Name != "userIDChange" || d == nil || d.UserIDType != userIDType || d.Alias == "" {
		return 0
	}
	return l.add(rename{e.Rank(), d.UserID, d.Alias})
}

func (l *renames) add(r rename) (truncated int) {
	i, _ := slices.BinarySearchFunc(*l, r.rank, func(r rename, rank uint64) int { return cmp.Compare(r.rank, rank) })
	*l = slices.Insert(*l, i, r)
	if len(*l) > maxUserIDs {
		*l = slices.Delete(*l, 0, 1)
		return 1
	}
	return 0
}

func (l *renames) merge(o renames) (truncated int) {
	for _, r := range o {
		truncated += l.add(r)
	}
	return truncated
}

// current returns the newest names, or the given ones if there were no renames.
func (l renames) current(name, alias string) (newName, newAlias string) {
	if n := len(l); n > 0 {
		return l[n-1].name, l[n-1].alias
	}
	return name, alias
}

// all returns the names in the order of their use. It is empty if first is the only one.
func (l renames) all(first string) []string {
	names := []string{}
	for _, r := range l {
		if len(names) == 0 {
			names = append(names, first)
		}
		names = append(names, r.name)
	}
	return names
}
