package digest

import (
	"slices"
	"sort"
	"time"
	"unsafe"
)

// Columns is the digests of conferences of some time in the form in which they are counted and compared: each text and
// each fact is a number. It takes a third of the encoded digests. A Builder makes it; nobody changes it afterwards.
type Columns struct {
	texts []string
	facts []Fact
	rows  []Row

	counts []NamedCount
	setup  []int64
	ends   []uint32 // where a member's facts end in of; those of the next begin there
	of     []uint32 // facts of all members, each once in a member
}

// Fact is the value of an attribute, a text.
type Fact struct {
	Attribute Attribute
	Value     uint32
}

// Row is one conference. Its texts are numbers; 0 is the empty text.
type Row struct {
	Start                      time.Time
	App, Outcome, Label, Cause uint32
	MOS                        float64 // 1 to 5; 0: no score
	Participants, Ratings      int
	RTTMs                      float64 // highest median of a candidate pair or stream; 0: unknown
	LossFraction               float64 // highest of a stream, 0 to 1; 0: none, or unknown
	WorstRating                int     // lowest overall rating, 1 to 5; 0: none
	Pending                    bool    // it has no digest, or one that cannot be read: only Start and App are set
	Failed                     bool    // the outcome is one of FailedOutcomes

	setup, errors, issues, members span
}

// span is some entries of a column.
type span struct{ from, to uint32 }

// NamedCount is a Count whose name is a text.
type NamedCount struct {
	Name  uint32
	Count int
}

// Len returns the number of conferences.
func (c *Columns) Len() int { return len(c.rows) }

// Row returns a conference. They are in the order in which they were added.
func (c *Columns) Row(i int) *Row { return &c.rows[i] }

// Texts returns the texts by their numbers.
func (c *Columns) Texts() []string { return c.texts }

// Facts returns the facts by their numbers.
func (c *Columns) Facts() []Fact { return c.facts }

// Setup returns the setup delays of a conference, in ms.
func (c *Columns) Setup(r *Row) []int64 { return c.setup[r.setup.from:r.setup.to] }

// Errors returns the reported errors of a conference by function.
func (c *Columns) Errors(r *Row) []NamedCount { return c.counts[r.errors.from:r.errors.to] }

// Issues returns the issues of a conference by kind.
func (c *Columns) Issues(r *Row) []NamedCount { return c.counts[r.issues.from:r.issues.to] }

// Members calls yield with the facts of each participant, each fact once, until it returns false.
func (c *Columns) Members(r *Row, yield func(facts []uint32) bool) {
	for m := r.members.from; m < r.members.to; m++ {
		if !yield(c.member(m)) {
			return
		}
	}
}

func (c *Columns) member(m uint32) []uint32 {
	from := uint32(0)
	if m > 0 {
		from = c.ends[m-1]
	}
	return c.of[from:c.ends[m]]
}

// Between returns the rows that started in [from, to), of conferences in order of start.
func (c *Columns) Between(from, to time.Time) (first, end int) {
	at := func(t time.Time) int {
		return sort.Search(len(c.rows), func(i int) bool { return !c.rows[i].Start.Before(t) })
	}
	first = at(from)
	return first, max(first, at(to))
}

// Of returns the conferences of an app, in the same order. The result shares the texts and the facts of c.
func (c *Columns) Of(appID string) *Columns {
	app, ok := c.Text(appID)
	n := 0
	for i := range c.rows {
		if ok && c.rows[i].App == app {
			n++
		}
	}
	if n == 0 {
		return &Columns{texts: []string{""}}
	}
	share := func(entries int) int { return entries * n / len(c.rows) }
	out := &Columns{
		texts: c.texts, facts: c.facts, rows: make([]Row, 0, n),
		counts: make([]NamedCount, 0, share(len(c.counts))), setup: make([]int64, 0, share(len(c.setup))), ends: make([]uint32, 0, share(len(c.ends))), of: make([]uint32, 0, share(len(c.of))),
	}
	for i := range c.rows {
		if r := &c.rows[i]; r.App == app {
			out.add(c, r)
		}
	}
	return out
}

// add adds a conference of other columns, whose texts and facts are the same.
func (c *Columns) add(from *Columns, r *Row) {
	row := *r
	row.setup = appended(&c.setup, from.Setup(r))
	row.errors = appended(&c.counts, from.Errors(r))
	row.issues = appended(&c.counts, from.Issues(r))
	row.members.from = uint32(len(c.ends))
	from.Members(r, func(facts []uint32) bool {
		c.of = append(c.of, facts...)
		c.ends = append(c.ends, uint32(len(c.of)))
		return true
	})
	row.members.to = uint32(len(c.ends))
	c.rows = append(c.rows, row)
}

func appended[T any](column *[]T, entries []T) span {
	from := len(*column)
	*column = append(*column, entries...)
	return span{uint32(from), uint32(len(*column))}
}

// Text returns the number of a text.
func (c *Columns) Text(text string) (number uint32, ok bool) {
	i := slices.Index(c.texts, text)
	return uint32(max(0, i)), i >= 0
}

// Bytes returns the memory that it takes, about.
func (c *Columns) Bytes() int {
	n := len(c.rows)*int(unsafe.Sizeof(Row{})) + len(c.counts)*int(unsafe.Sizeof(NamedCount{})) + len(c.facts)*int(unsafe.Sizeof(Fact{})) +
		8*len(c.setup) + 4*len(c.ends) + 4*len(c.of)
	for _, text := range c.texts {
		n += len(text) + int(unsafe.Sizeof(text))
	}
	return n
}
