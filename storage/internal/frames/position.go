package frames

import (
	"bytes"
	"cmp"
)

// Position orders the records of a conference: by (At, Session, Seq, Idx). It is unique
// within a conference.
type Position struct {
	At      int64
	Session [16]byte
	Seq     int64
	Idx     int
}

// Compare is negative if p precedes o.
func (p *Position) Compare(o *Position) int {
	if c := cmp.Compare(p.At, o.At); c != 0 {
		return c
	}
	if c := bytes.Compare(p.Session[:], o.Session[:]); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(p.Seq, o.Seq), cmp.Compare(p.Idx, o.Idx))
}

// Record is one record decoded from a chunk.
type Record struct {
	Session [16]byte
	Seq     int64
	Idx     int
	Columns
	Name       string
	Attributes map[string]any
}

// Position returns the record's position.
func (r *Record) Position() Position { return Position{r.At, r.Session, r.Seq, r.Idx} }
