package qoswssreceiver

import (
	"slices"
	"sort"

	"github.com/qosrtc/qos/protocol"
)

// seqRange is a closed range of frame numbers.
type seqRange struct{ from, to uint64 }

// seqSet is a set of frame numbers: sorted ranges with gaps between them.
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

// add adds from..to. Numbers are at most 2^53-1, so to+1 does not overflow.
func (s *seqSet) add(from, to uint64) {
	old := *s
	i := sort.Search(len(old), func(i int) bool { return old[i].to+1 >= from }) // first range that touches from..to
	j := i
	for j < len(old) && old[j].from <= to+1 {
		from, to = min(from, old[j].from), max(to, old[j].to)
		j++
	}
	*s = slices.Replace(old, i, j, seqRange{from, to})
}

// tracker holds the numbers of a connection's frames: final ones were accepted, skipped or refused,
// pending ones are in the pipeline.
type tracker struct {
	final   seqSet // begins with 0..acked
	pending seqSet
}

// newTracker starts after the numbers whose acknowledgement the client has received.
func newTracker(acked uint64) tracker {
	return tracker{final: seqSet{{0, acked}}}
}

// seen reports whether n is final or pending.
func (t *tracker) seen(n uint64) bool { return t.final.has(n) || t.pending.has(n) }

// acked returns the number up to which all are final.
func (t *tracker) acked() uint64 { return t.final[0].to }

// gaps returns the number of gaps between final and pending numbers. It is exact above MaxSeqGaps.
func (t *tracker) gaps() int {
	most := len(t.final) - 1 + len(t.pending)
	if most <= protocol.MaxSeqGaps {
		return most
	}
	all := slices.Clone(t.final) // a number refused between pending ones is no gap
	for _, r := range t.pending {
		all.add(r.from, r.to)
	}
	return len(all) - 1
}

// refuse makes seq final; for a skip also the numbers since from, which the client never sends.
// Pending numbers remain pending. Zero is no number.
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
			t.final.add(from, r.from-1)
		}
		from = r.to + 1
	}
	if from <= seq {
		t.final.add(from, seq)
	}
}

// settle makes the pending numbers final.
func (t *tracker) settle() {
	for _, r := range t.pending {
		t.final.add(r.from, r.to)
	}
	t.pending = t.pending[:0]
}

// forget drops the pending numbers: the client sends the frames again.
func (t *tracker) forget() { t.pending = t.pending[:0] }
