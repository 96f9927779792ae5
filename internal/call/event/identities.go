package event

import (
	"slices"
	"sort"
)

// maxRanges bounds the runs of one session, and the ranges of all its other records. Beyond it the
// two oldest are joined, so that a record between them counts as a duplicate although it is new. Only
// a client whose frame numbers have thousands of gaps reaches it.
const maxRanges = 8192

// Bytes of one element.
const (
	runBytes    = 24
	rangeBytes  = 16
	setBytes    = 24
	othersBytes = 48
)

// seqRange is a range of numbers, both ends included.
type seqRange struct{ from, to uint64 }

// seqSet is a set of numbers, stored as ascending ranges that are not adjacent. A highest number
// alone would not suffice: after a resume numbers arrive out of order.
type seqSet []seqRange

// find returns the index of the first range that ends at n-1 or later: the only one that can contain n
// or be extended by n at its end.
func (s seqSet) find(n uint64) int {
	if k := len(s); k > 0 && s[k-1].from <= n { // the common case: the newest range
		if n > s[k-1].to+1 {
			return k
		}
		return k - 1
	}
	return sort.Search(len(s), func(i int) bool { return s[i].to+1 >= n })
}

func (s seqSet) has(n uint64) bool {
	i := s.find(n)
	if i < len(s) && s[i].to+1 == n {
		i++
	}
	return i < len(s) && s[i].from <= n && n <= s[i].to
}

// insert adds the numbers of r.
func (s *seqSet) insert(r seqRange) {
	set := *s
	i := set.find(r.from)
	j := i
	for j < len(set) && set[j].from <= r.to+1 {
		r.from, r.to = min(r.from, set[j].from), max(r.to, set[j].to)
		j++
	}
	if j > i {
		set[i] = r
		set = append(set[:i+1], set[j:]...)
	} else {
		set = append(set, seqRange{})
		copy(set[i+1:], set[i:])
		set[i] = r
	}
	*s = set
}

// joinOldest joins the two oldest ranges and the numbers between them.
func (s *seqSet) joinOldest() {
	(*s)[1].from = (*s)[0].from
	*s = slices.Delete(*s, 0, 1)
}

// run is a range of frames, both ends included. The set has their records 0 to rows-1.
type run struct {
	from, to uint64
	rows     int
}

// Identities is a set of records of one session by (seq, index). Nearly all frames arrive complete
// and in order, and have as many records as the previous frame: they are one run. The zero value is
// empty.
type Identities struct {
	runs   []run         // ascending and disjoint; adjacent ones differ in rows
	others *otherRecords // nil until the first one
}

// Has reports whether a record is in the set.
func (s *Identities) Has(seq uint64, index int) bool {
	return index >= 0 && (index < s.rows(s.find(seq), seq) || s.others != nil && s.others.has(seq, index))
}

// Add adds a record and reports whether it is new. index MUST NOT be negative.
func (s *Identities) Add(seq uint64, index int) bool {
	i := s.find(seq)
	rows := s.rows(i, seq)
	switch {
	case index < rows || s.others != nil && s.others.has(seq, index):
		return false
	case index > rows:
		s.addOther(seqRange{seq, seq}, index)
	case rows == 0 && i == len(s.runs): // the first record of the newest frame
		s.runs = append(s.runs, run{seq, seq, 1})
		s.joinNewest()
	case rows > 0 && i == len(s.runs)-1 && s.runs[i].from == s.runs[i].to: // the next record of the newest frame
		s.runs[i].rows++
		s.joinNewest()
	default:
		s.grow(i, seq)
	}
	return true
}

// Merge adds all records of another set.
func (s *Identities) Merge(other Identities) {
	s.runs = union(s.runs, other.runs)
	s.bound()
	if other.others == nil {
		return
	}
	for index, set := range other.others.sets {
		for _, r := range set {
			s.addOther(r, index)
		}
	}
}

// Bytes returns the memory of the set without that of the Identities itself.
func (s *Identities) Bytes() int64 {
	n := int64(cap(s.runs)) * runBytes
	if o := s.others; o != nil {
		n += othersBytes + int64(cap(o.sets))*setBytes + int64(o.room)*rangeBytes
	}
	return n
}

// find returns the index of the first run that ends at seq or later: the only one that can contain seq.
func (s *Identities) find(seq uint64) int {
	k := len(s.runs)
	switch {
	case k == 0 || s.runs[k-1].to < seq:
		return k
	case s.runs[k-1].from <= seq: // the common case: the newest run
		return k - 1
	}
	return s.search(seq)
}

func (s *Identities) search(seq uint64) int {
	return sort.Search(len(s.runs), func(i int) bool { return s.runs[i].to >= seq })
}

// rows returns the number of records of a frame that run i has; i MUST be find(seq).
func (s *Identities) rows(i int, seq uint64) int {
	if i < len(s.runs) && s.runs[i].from <= seq {
		return s.runs[i].rows
	}
	return 0
}

// grow adds the next record of a frame to run i; i MUST be find(seq).
func (s *Identities) grow(i int, seq uint64) {
	if rows := s.rows(i, seq); rows == 0 {
		s.runs = slices.Insert(s.runs, i, run{seq, seq, 1})
	} else {
		old := s.runs[i]
		s.runs[i] = run{seq, seq, rows + 1}
		if seq < old.to {
			s.runs = slices.Insert(s.runs, i+1, run{seq + 1, old.to, rows})
		}
		if old.from < seq {
			s.runs = slices.Insert(s.runs, i, run{old.from, seq - 1, rows})
			i++
		}
	}
	s.join(i)
	s.join(i - 1)
	s.bound()
}

// joinNewest joins the newest two runs if they are adjacent and have the same rows, and bounds the runs.
func (s *Identities) joinNewest() {
	k := len(s.runs) - 1
	if k > 0 {
		if a, b := &s.runs[k-1], s.runs[k]; a.rows == b.rows && a.to+1 == b.from {
			a.to = b.to
			s.runs = s.runs[:k]
			return
		}
	}
	s.bound()
}

// bound joins the oldest runs if there are too many.
func (s *Identities) bound() {
	if n := len(s.runs) - maxRanges; n > 0 {
		s.joinOldest(n)
	}
}

// join joins run i and the next one if they are adjacent and have the same rows.
func (s *Identities) join(i int) {
	if i < 0 || i+1 >= len(s.runs) {
		return
	}
	if a, b := &s.runs[i], s.runs[i+1]; a.rows == b.rows && a.to+1 == b.from {
		a.to = b.to
		s.runs = slices.Delete(s.runs, i+1, i+2)
	}
}

// joinOldest joins the n+1 oldest runs.
func (s *Identities) joinOldest(n int) {
	for _, r := range s.runs[:n] {
		s.runs[n].rows = max(s.runs[n].rows, r.rows)
	}
	s.runs[n].from = s.runs[0].from
	s.runs = slices.Delete(s.runs, 0, n)
	s.join(0)
}

// union returns the runs of the records of both.
func union(a, b []run) []run {
	out := make([]run, 0, len(a)+len(b))
	put := func(r run) {
		if k := len(out); k > 0 && out[k-1].rows == r.rows && out[k-1].to+1 == r.from {
			out[k-1].to = r.to
		} else {
			out = append(out, r)
		}
	}
	a, b = slices.Clone(a), slices.Clone(b)
	for len(a) > 0 && len(b) > 0 {
		if b[0].from < a[0].from {
			a, b = b, a
		}
		if one := (run{a[0].from, min(a[0].to, b[0].from-1), a[0].rows}); a[0].from < b[0].from {
			put(one)
			a = dropUntil(a, one.to)
			continue
		}
		both := run{a[0].from, min(a[0].to, b[0].to), max(a[0].rows, b[0].rows)}
		put(both)
		a, b = dropUntil(a, both.to), dropUntil(b, both.to)
	}
	for _, r := range append(a, b...) {
		put(r)
	}
	return out
}

// dropUntil returns runs without the frames up to seq of the first run. It may change runs.
func dropUntil(runs []run, seq uint64) []run {
	if runs[0].to <= seq {
		return runs[1:]
	}
	runs[0].from = seq + 1
	return runs
}

// otherRecords holds records that arrived before an earlier one of their frame: a seqSet for each index, since
// the same record may be missing in each frame.
type otherRecords struct {
	sets   []seqSet
	ranges int // total length of the sets
	room   int // total capacity of the sets
}

func (o *otherRecords) has(seq uint64, index int) bool {
	return index < len(o.sets) && o.sets[index].has(seq)
}

// addOther adds the record of that index of a range of frames.
func (s *Identities) addOther(r seqRange, index int) {
	if s.others == nil {
		s.others = new(otherRecords)
	}
	o := s.others
	for index >= len(o.sets) {
		o.sets = append(o.sets, nil)
	}
	set := &o.sets[index]
	ranges, room := len(*set), cap(*set)
	set.insert(r)
	o.ranges += len(*set) - ranges
	o.room += cap(*set) - room
	for i := 0; o.ranges > maxRanges; i++ { // there are more ranges than sets
		if len(*set) > 1 {
			set.joinOldest()
			o.ranges--
		}
		set = &o.sets[i%len(o.sets)]
	}
}
