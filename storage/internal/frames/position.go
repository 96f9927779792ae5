package frames

import (
	"bytes"
	"cmp"
)

// Position is a record's place in the order of Records: (At, Session, Seq, Idx). No two
// records of a conference have the same.
type Position struct {
	At      int64
	Session [16]byte
	Seq     int64
	Idx     int
}

// Compare is negative when p comes before o.
func (p *Position) Compare(o *Position) int {
	if c := cmp.Compare(p.At, o.At); c != 0 {
		return c
	}
	if c := bytes.Compare(p.Session[:], o.Session[:]); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(p.Seq, o.Seq), cmp.Compare(p.Idx, o.Idx))
}

// Record is one record as a chunk gives it back.
type Record struct {
	Session [16]byte
	Seq     int64
	Idx     int
	Columns
	Name       string
	Attributes map[string]any
}

// Position returns the record's place.
func (r *Record) Position() Position { return Position{r.At, r.Session, r.Seq, r.Idx} }
