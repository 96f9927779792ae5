package conferenceprocessor

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventlog"
)

// flight holds the records of one call of ConsumeLogs by identity: session, seq and index. A client chooses all three,
// so a lookup must not read all records.
type flight struct {
	items []eventlog.Item
	order []int // positions, in order of identity, then of position
}

func newFlight(items []eventlog.Item) *flight {
	f := &flight{items, make([]int, len(items))}
	for i := range f.order {
		f.order[i] = i
	}
	slices.SortStableFunc(f.order, func(i, j int) int { return compareIdentity(f.event(i), f.event(j)) })
	return f
}

func (f *flight) event(i int) *event.Event { return &f.items[i].Event } // by index: an item is large

// compareIdentity orders records by identity.
func compareIdentity(a, b *event.Event) int {
	return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Index, b.Index))
}

// find returns the position of the first record with the identity of e, -1 if there is none.
func (f *flight) find(e *event.Event) int {
	n := sort.Search(len(f.order), func(n int) bool { return compareIdentity(f.event(f.order[n]), e) >= 0 })
	if n == len(f.order) || compareIdentity(f.event(f.order[n]), e) != 0 {
		return -1
	}
	return f.order[n]
}

// sessions yields each session of the records once.
func (f *flight) sessions() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n, i := range f.order {
			session := f.event(i).Session
			if (n == 0 || session != f.event(f.order[n-1]).Session) && !yield(session) {
				return
			}
		}
	}
}
