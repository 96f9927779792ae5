package contrast

import "slices"

// Table holds the conferences of a comparison, with facts as numbers. The zero value is empty and ready for use. It is
// not safe for concurrent use.
type Table struct {
	facts []Fact
	ids   map[Fact]uint32

	items  []item
	strata []int    // class of size, by number
	ends   []uint32 // end of each member's facts in of, and begin of the next member's
	of     []uint32 // facts of all members, each once in a member
}

// item is one conference.
type item struct {
	from, to int // members
	stratum  int // number
	inSet    bool
	covered  bool // by a finding
}

// Conference is one conference of a Table. Its facts are numbers of one Table.
type Conference struct {
	Stratum int      // class of its size; conferences of different strata are not compared
	Members []uint32 // for each participant the number of facts, then the facts, each once
}

// Fact returns the number of a fact: 0, 1, 2, … in the order of their first use.
func (t *Table) Fact(f Fact) uint32 {
	id, ok := t.ids[f]
	if !ok {
		if t.ids == nil {
			t.ids = map[Fact]uint32{}
		}
		id = uint32(len(t.facts))
		t.ids[f] = id
		t.facts = append(t.facts, f)
	}
	return id
}

// Grow makes room for a number of conferences, and for the total number of entries of their Members.
func (t *Table) Grow(conferences, entries int) {
	t.items, t.of = slices.Grow(t.items, conferences), slices.Grow(t.of, entries)
	t.ends = slices.Grow(t.ends, 3*conferences)
}

// Add adds a conference to the set or to the baseline.
func (t *Table) Add(c Conference, inSet bool) {
	stratum := slices.Index(t.strata, c.Stratum)
	if stratum < 0 {
		stratum = len(t.strata)
		t.strata = append(t.strata, c.Stratum)
	}
	one := item{from: len(t.ends), stratum: stratum, inSet: inSet}
	for rest := c.Members; len(rest) > 0; {
		n := int(rest[0])
		t.of = append(t.of, rest[1:1+n]...)
		t.ends = append(t.ends, uint32(len(t.of)))
		rest = rest[1+n:]
	}
	one.to = len(t.ends)
	t.items = append(t.items, one)
}

func newTable(items []Item) *Table {
	t := &Table{}
	var c Conference
	for i := range items {
		c.Stratum, c.Members = items[i].Stratum, c.Members[:0]
		for _, facts := range items[i].Members {
			at := len(c.Members)
			c.Members = append(c.Members, 0)
			for _, f := range facts {
				if id := t.Fact(f); !slices.Contains(c.Members[at+1:], id) {
					c.Members = append(c.Members, id)
				}
			}
			c.Members[at] = uint32(len(c.Members) - at - 1)
		}
		t.Add(c, items[i].InSet)
	}
	return t
}

// member returns the facts of a member.
func (t *Table) member(m int) []uint32 {
	from := uint32(0)
	if m > 0 {
		from = t.ends[m-1]
	}
	return t.of[from:t.ends[m]]
}

// has reports whether a member has all facts of a combination.
func has(member, combination []uint32) bool {
	for _, f := range combination {
		if !slices.Contains(member, f) {
			return false
		}
	}
	return true
}

// have returns the items among some with a member that has a combination.
func (t *Table) have(among []int32, combination []uint32) (out []int32) {
	for _, i := range among {
		one := &t.items[i]
		for m := one.from; m < one.to; m++ {
			if has(t.member(m), combination) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// all returns all items.
func (t *Table) all() []int32 {
	out := make([]int32, len(t.items))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// cover marks the items of a finding, and returns those that no finding covered before.
func (t *Table) cover(items []int32) (fresh []int32) {
	for _, i := range items {
		if one := &t.items[i]; !one.covered {
			one.covered = true
			fresh = append(fresh, i)
		}
	}
	return fresh
}

// postings holds the items with each fact, ascending.
type postings struct {
	items []int32
	ends  []int // end of each fact's items, and begin of the next fact's
}

// postings returns the items with each fact; c has the counts of all items.
func (t *Table) postings(c *counts) postings {
	p := postings{ends: make([]int, len(t.facts))}
	total := 0
	for f := range p.ends {
		p.ends[f] = total // index of the next item
		total += c.all(uint32(f))
	}
	p.items = make([]int32, total)
	seen := make([]int32, len(t.facts)) // the last item that had a fact, from 1
	for i := range t.items {
		for m := t.items[i].from; m < t.items[i].to; m++ {
			for _, f := range t.member(m) {
				if seen[f] != int32(i)+1 {
					seen[f] = int32(i) + 1
					p.items[p.ends[f]] = int32(i)
					p.ends[f]++
				}
			}
		}
	}
	return p
}

// of returns the items with a fact.
func (p *postings) of(fact uint32) []int32 {
	from := 0
	if fact > 0 {
		from = p.ends[fact-1]
	}
	return p.items[from:p.ends[fact]]
}
