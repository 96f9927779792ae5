package contrast

import (
	"github.com/qosrtc/qos/internal/call/digest"
)

// Columns converts rows of digest columns to conferences of a Table.
type Columns struct {
	table   *Table
	columns *digest.Columns
	ids     []uint32 // in the table by fact of the columns, from 1; 0: not yet known
}

// Columns returns a Columns that converts rows of c to conferences of t.
func (t *Table) Columns(c *digest.Columns) *Columns {
	return &Columns{table: t, columns: c, ids: make([]uint32, len(c.Facts()))}
}

// Conference returns a conference for Add. Its facts and its stratum are those of Of.
func (c *Columns) Conference(r *digest.Row) Conference {
	facts, members := 0, 0
	c.columns.Members(r, func(member []uint32) bool { facts, members = facts+len(member), members+1; return true })
	out := Conference{Stratum: sizeClass(r.Participants), Members: make([]uint32, 0, facts+members)}
	c.columns.Members(r, func(member []uint32) bool {
		out.Members = append(out.Members, uint32(len(member)))
		for _, f := range member {
			out.Members = append(out.Members, c.id(f))
		}
		return true
	})
	return out
}

// attributes are the names of attributes by their numbers.
var attributes = Attributes()

func (c *Columns) id(fact uint32) uint32 {
	if c.ids[fact] == 0 {
		f := c.columns.Facts()[fact]
		c.ids[fact] = c.table.Fact(Fact{attributes[f.Attribute], c.columns.Texts()[f.Value]}) + 1
	}
	return c.ids[fact] - 1
}
