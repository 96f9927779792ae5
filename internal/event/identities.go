package event

import "sort"

// maxRanges bounds one set. Beyond it the two oldest ranges become one, so that a record
// that was never seen could be taken for a repetition; a client reaches it only by
// leaving thousands of holes.
const maxRanges = 8192

// span of numbers, both included.
type seqRange struct{ from, to uint64 }

// seqSet is a set of numbers, kept as ascending ranges that do not touch. A high-water
// mark would not do: after a resume numbers arrive out of order.
type seqSet []seqRange

// find returns the first range that ends at n-1 or later: the only one that n can be in
// or extend at its end.
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

// add puts n in and reports whether it was not there before.
func (s *seqSet) add(n uint64) bool {
	if s.has(n) {
		return false
	}
	s.insert(seqRange{n, n})
	return true
}

// insert makes r part of the set.
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
	if len(set) > maxRanges {
		set[1].from = set[0].from
		set = append(set[:0], set[1:]...)
	}
	*s = set
}

// Identities is a set of records of one session by (seq, index): one seqSet for each index,
// for nearly all frames of a session have the same number of records. The zero value is empty.
type Identities []seqSet

// Has reports whether a record is in the set.
func (s Identities) Has(seq uint64, index int) bool {
	return index >= 0 && index < len(s) && s[index].has(seq)
}

// Add puts a record in and reports whether it was not there before. index is not negative.
func (s *Identities) Add(seq uint64, index int) bool {
	for index >= len(*s) {
		*s = append(*s, nil)
	}
	return (*s)[index].add(seq)
}

// Merge adds all records of another set.
func (s *Identities) Merge(other Identities) {
	for index, set := range other {
		for index >= len(*s) {
			*s = append(*s, nil)
		}
		for _, r := range set {
			(*s)[index].insert(r)
		}
	}
}
