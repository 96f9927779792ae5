package digest

import (
	"encoding/binary"
	"math"
)

// columnsVersion is the first byte of encoded columns. A change of the encoding, or of the columns that a Builder makes of a
// digest, needs a new number, and a migration that deletes the rows of the table hour in both engines.
const columnsVersion = 1

// States of an encoded row.
const (
	rowSummarised = iota
	rowPending
)

// Encode returns the columns as DecodeColumns reads them:
//
//	version (1 byte) | seven lengths | texts | facts | counts | setup delays | members | rows
//
// Numbers are varints. A text is its length and its bytes. A member is the number of its facts, and the facts. A row has the
// numbers of its entries in other columns, which are in the order of the rows.
func (c *Columns) Encode() []byte {
	b := append(make([]byte, 0, c.Bytes()/2), columnsVersion)
	for _, n := range c.lengths() {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, text := range c.texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for _, f := range c.facts {
		b = appendUints(b, uint32(f.Attribute), f.Value)
	}
	for _, n := range c.counts {
		b = appendUints(b, n.Name)
		b = binary.AppendUvarint(b, uint64(n.Count))
	}
	for _, ms := range c.setup {
		b = binary.AppendUvarint(b, uint64(ms))
	}
	for m := range c.ends {
		facts := c.member(uint32(m))
		b = appendUints(appendUints(b, uint32(len(facts))), facts...)
	}
	last := int64(0)
	for i := range c.rows {
		r := &c.rows[i]
		b = r.encode(b, r.Start.UnixMilli()-last)
		last = r.Start.UnixMilli()
	}
	return b
}

func (c *Columns) lengths() []int {
	return []int{len(c.texts), len(c.facts), len(c.counts), len(c.setup), len(c.ends), len(c.of), len(c.rows)}
}

// encode appends a row that starts some ms after the one before.
func (r *Row) encode(b []byte, after int64) []byte {
	b = appendUints(binary.AppendVarint(b, after), r.App)
	if r.Pending {
		return append(b, rowPending)
	}
	b = appendUints(append(b, rowSummarised), r.Outcome, r.Label, r.Cause)
	for _, v := range []int64{
		thousandths(r.MOS), int64(r.Participants), int64(r.Ratings), int64(r.WorstRating), thousandths(r.RTTMs), int64(math.Round(r.LossFraction * 1e6)),
	} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return appendUints(b, r.setup.len(), r.errors.len(), r.issues.len(), r.members.len())
}

func (s span) len() uint32 { return s.to - s.from }

func appendUints(b []byte, all ...uint32) []byte {
	for _, v := range all {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}
