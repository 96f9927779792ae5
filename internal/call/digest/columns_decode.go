package digest

import (
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeColumns decodes the result of Encode. It returns ErrMalformed for other bytes, and for another version of the
// encoding.
func DecodeColumns(b []byte) (*Columns, error) {
	if len(b) == 0 || b[0] != columnsVersion {
		return nil, ErrMalformed
	}
	d := columnsDecoder{b: b, at: 1, c: &Columns{}}
	lengths := make([]int, len(d.c.lengths()))
	for i := range lengths {
		lengths[i] = d.length()
	}
	d.texts(lengths[0])
	d.facts(lengths[1])
	d.counts(lengths[2])
	d.setup(lengths[3])
	d.members(lengths[4], lengths[5])
	d.rows(lengths[6])
	if d.bad || d.at < len(d.b) || d.setups != uint32(lengths[3]) || d.named != uint32(lengths[2]) || d.ends != uint32(lengths[4]) {
		return nil, ErrMalformed
	}
	return d.c, nil
}

// columnsDecoder reads columns. Once bad it reads zeros.
type columnsDecoder struct {
	b   []byte
	at  int // of the next byte
	bad bool
	c   *Columns

	setups, named, ends uint32 // entries of setup, counts and ends that rows have
}

func (d *columnsDecoder) fail() uint64 {
	d.bad, d.at = true, len(d.b)
	return 0
}

func (d *columnsDecoder) uint() uint64 {
	if d.at < len(d.b) && d.b[d.at] < 0x80 { // as nearly all are
		d.at++
		return uint64(d.b[d.at-1])
	}
	return d.long()
}

func (d *columnsDecoder) long() uint64 {
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		return d.fail()
	}
	d.at += n
	return v
}

// length reads the length of what takes a byte each at least.
func (d *columnsDecoder) length() int {
	if n := d.uint(); n <= uint64(len(d.b)-d.at) {
		return int(n)
	}
	return int(d.fail())
}

// below reads a number of something of which there are n.
func (d *columnsDecoder) below(n int) uint32 {
	if v := d.uint(); v < uint64(n) {
		return uint32(v)
	}
	return uint32(d.fail())
}

func (d *columnsDecoder) number() value64 { return value64(d.uint()) }

func (d *columnsDecoder) text() uint32 { return d.below(len(d.c.texts)) }

func (d *columnsDecoder) texts(n int) {
	d.c.texts = make([]string, n)
	for i := range d.c.texts {
		size := d.length()
		d.c.texts[i] = string(d.b[d.at : d.at+size])
		d.at += size
	}
}

func (d *columnsDecoder) facts(n int) {
	d.c.facts = make([]Fact, n)
	for i := range d.c.facts {
		d.c.facts[i] = Fact{Attribute(d.below(int(attributes))), d.text()}
	}
}

func (d *columnsDecoder) counts(n int) {
	d.c.counts = make([]NamedCount, n)
	for i := range d.c.counts {
		d.c.counts[i] = NamedCount{d.text(), d.number().int()}
	}
}

func (d *columnsDecoder) setup(n int) {
	d.c.setup = make([]int64, n)
	for i := range d.c.setup {
		d.c.setup[i] = int64(d.uint())
	}
}

// members reads n members, which have some facts together.
func (d *columnsDecoder) members(n, facts int) {
	d.c.ends, d.c.of = make([]uint32, n), make([]uint32, facts)
	from, most := 0, len(d.c.facts)
	for i := range d.c.ends {
		size := d.length()
		if size > facts-from {
			d.fail()
			return
		}
		of := d.c.of[from : from+size]
		for j := range of {
			of[j] = d.below(most)
		}
		from += size
		d.c.ends[i] = uint32(from)
	}
	if from != facts {
		d.fail()
	}
}

func (d *columnsDecoder) rows(n int) {
	failed := make([]bool, len(d.c.texts))
	for i, text := range d.c.texts {
		failed[i] = Failed(text)
	}
	d.c.rows = make([]Row, n)
	ms := int64(0)
	for i := range d.c.rows {
		if d.bad {
			return
		}
		r := &d.c.rows[i]
		ms += protowire.DecodeZigZag(d.uint())
		r.Start, r.App = time.UnixMilli(ms).UTC(), d.text()
		switch d.below(rowPending + 1) {
		case rowPending:
			r.Pending = true
		default:
			d.summarised(r)
			r.Failed = !d.bad && failed[r.Outcome]
		}
	}
}

func (d *columnsDecoder) summarised(r *Row) {
	r.Outcome, r.Label, r.Cause = d.text(), d.text(), d.text()
	r.MOS, r.Participants, r.Ratings, r.WorstRating = d.number().thousandths(), d.number().int(), d.number().int(), d.number().int()
	r.RTTMs, r.LossFraction = d.number().thousandths(), d.number().millionths()
	r.setup = d.span(&d.setups, len(d.c.setup))
	r.errors = d.span(&d.named, len(d.c.counts))
	r.issues = d.span(&d.named, len(d.c.counts))
	r.members = d.span(&d.ends, len(d.c.ends))
}

// span reads how many of the n entries of a column are of a row, from those that no row before has.
func (d *columnsDecoder) span(used *uint32, n int) span {
	size := d.uint()
	if size > uint64(n)-uint64(*used) {
		d.fail()
		return span{}
	}
	s := span{*used, *used + uint32(size)}
	*used = s.to
	return s
}
