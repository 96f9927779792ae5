package qoswssreceiver

import (
	"slices"
	"sort"

	"github.com/qosrtc/qos/protocol"
)

// seqRange is a closed range of frame numbers.
type seqRange struct{ from, to uint64 }

// seqSet is a set of frame numbers: sorted ranges, no two of which touch.
type seqSet []seqRange

// at returns the index of the first range that ends at n or later.
func (s seqSet) at(n uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].to >= n })
}

// has reports whether n is in the set.
func (s seqSet) has(n uint64) bool {
	i := s.at(n)
	return i < len(s) && s[i].from <= n
}

// add puts from..to into the set. Numbers are at most 2^53-1, so to+1 does not wrap.
func (s *seqSet) add(from, to uint64) {
	old := *s
	i := sort.Search(len(old), func(i int) bool { return old[i].to+1 >= from }) // first that touches
	j := i
	for j < len(old) && old[j].from <= to+1 {
		from, to = min(from, old[j].from), max(to, old[j].to)
		j++
	}
	*s = slices.Replace(old, i, j, seqRange{from, to})
}

// tracker knows which numbers of a connection were taken, skipped or refused, and which
// are on their way down the pipeline.
type tracker struct {
	taken   seqSet // begins with 0..acked
	pending seqSet
}

// newTracker starts after the numbers that the client knows to be acknowledged.
func newTracker(acked uint64) tracker {
	return tracker{taken: seqSet{{0, acked}}}
}

// seen reports whether n was taken before or is on its way.
func (t *tracker) seen(n uint64) bool { return t.taken.has(n) || t.pending.has(n) }

// acked is the number up to which everything is taken.
func (t *tracker) acked() uint64 { return t.taken[0].to }

// gaps counts the holes in what was taken or is on its way, exactly where they are many.
func (t *tracker) gaps() int {
	most := len(t.taken) - 1 + len(t.pending)
	if most <= protocol.MaxSeqGaps {
		return most
	}
	all := slices.Clone(t.taken) // what was refused among what is on its way is no hole
	for _, r := range t.pending {
		all.add(r.from, r.to)
	}
	return len(all) - 1
}

// refuse marks seq as refused for good; for a skip also the numbers since from, which the
// client never sends. What is on its way keeps its own fate. Zero is no number.
func (t *tracker) refuse(from, seq uint64) {
	if seq == 0 {
		return
	}
	if from == 0 || from > seq {
		from = seq
	}
	for _, r := range t.pending {
		if r.to < from || r.from > seq {
			continue
		}
		if from < r.from {
			t.taken.add(from, r.from-1)
		}
		from = r.to + 1
	}
	if from <= seq {
		t.taken.add(from, seq)
	}
}

// settle moves what was on its way to what is taken.
func (t *tracker) settle() {
	for _, r := range t.pending {
		t.taken.add(r.from, r.to)
	}
	t.pending = t.pending[:0]
}

// forget drops what was on its way: the client sends it again.
func (t *tracker) forget() { t.pending = t.pending[:0] }
