package chunk

import (
	"slices"

	"github.com/qosrtc/qos/storage/internal/frames"
)

// Decoded is a decoded chunk. It holds columns, and creates each record on demand.
type Decoded struct {
	texts  []string
	frames []frame
	shapes []decodedShape
	order  []recordRef
}

type decodedShape struct {
	name    string
	keys    []string
	kinds   []byte
	frames  column
	idx     column
	columns []column
	doubles []doubles // columns of kind double
}

// recordRef refers to record number i of a shape.
type recordRef struct {
	shape, i int
	frames.Position
}

var _ frames.Packed = (*Decoded)(nil)

// Decode decodes a body. Its error wraps storage.ErrDamaged.
func Decode(body []byte) (*Decoded, error) {
	payload, err := unseal(body)
	if err != nil {
		return nil, err
	}
	d := &Decoded{}
	in := &decoder{input: input{buf: payload}, d: d}
	in.texts()
	in.frames()
	in.shapes()
	if in.err == nil && len(in.buf) > 0 {
		in.fail("something stands behind its end")
	}
	if in.err != nil {
		return nil, in.err
	}
	slices.SortFunc(d.order, func(a, b recordRef) int { return a.Compare(&b.Position) })
	return d, nil
}

// Len implements frames.Packed.
func (d *Decoded) Len() int { return len(d.order) }

// Position implements frames.Packed.
func (d *Decoded) Position(i int) frames.Position { return d.order[i].Position }

// Record implements frames.Packed.
func (d *Decoded) Record(i int) frames.Record {
	at := &d.order[i]
	s := &d.shapes[at.shape]
	attributes := make(map[string]any, len(s.keys))
	for c, key := range s.keys {
		attributes[key] = d.value(s, c, at.i)
	}
	f := &d.frames[s.frames.at(at.i)]
	return frames.Record{Session: f.session, Seq: f.seq, Idx: at.Idx, Columns: f.Columns, Name: s.name, Attributes: attributes}
}

func (d *Decoded) value(s *decodedShape, c, i int) any {
	switch s.kinds[c] {
	case kindText:
		return d.texts[s.columns[c].at(i)]
	case kindInt:
		return s.columns[c].at(i)
	case kindDouble:
		return s.doubles[c].at(i)
	}
	return s.columns[c].at(i) != 0
}

// decoder decodes a payload into d.
type decoder struct {
	input
	d     *Decoded
	cells int
}

func (in *decoder) texts() {
	n := in.count(len(in.buf))
	in.d.texts = make([]string, 0, n)
	for range n {
		in.d.texts = append(in.d.texts, string(in.take(in.count(len(in.buf)))))
	}
}

func (in *decoder) name() string {
	number := in.uvarint()
	if number == 0 {
		if i := in.count(len(in.d.texts)); i < len(in.d.texts) {
			return in.d.texts[i]
		}
		in.fail("a name is not there")
		return ""
	}
	name, ok := frames.NameOf(number)
	if !ok {
		in.fail("it uses a name that a newer version has")
	}
	return name
}

func (in *decoder) frames() {
	sessions := make([][16]byte, in.count(MaxRecords))
	runs := make([]int, len(sessions))
	for i := range sessions {
		copy(sessions[i][:], in.take(16))
		runs[i] = in.count(MaxRecords)
	}
	n := in.sum(runs, MaxRecords)
	if in.err != nil {
		return
	}
	seq, at, conferenceAt, delay, fabric := in.column(n, runs), in.column(n, runs), in.column(n, runs), in.column(n, runs), in.column(n, runs)
	in.d.frames = make([]frame, 0, n)
	for s, run := range runs {
		for range run {
			i := len(in.d.frames)
			in.d.frames = append(in.d.frames, frame{sessions[s], seq.at(i), frames.Columns{
				Activity: true, At: at.at(i), ConferenceAt: conferenceAt.at(i), ObservedAt: at.at(i) + delay.at(i), Fabric: int(fabric.at(i)),
			}})
		}
	}
}

// sum returns the sum of the lengths of runs. There must be at least one run, and none may be empty.
func (in *decoder) sum(runs []int, limit int) (n int) {
	if len(runs) == 0 {
		in.fail("its runs make no sense")
	}
	for _, run := range runs {
		if n += run; run == 0 || n > limit {
			in.fail("its runs make no sense")
			return 0
		}
	}
	return n
}

func (in *decoder) shapes() {
	for range in.count(MaxRecords) {
		s := in.shape()
		if in.err != nil {
			return
		}
		in.d.shapes = append(in.d.shapes, s)
	}
}

func (in *decoder) shape() (s decodedShape) {
	s.name = in.name()
	for range in.count(min(maxValues, len(in.buf))) {
		s.keys, s.kinds = append(s.keys, in.name()), append(s.kinds, in.byte())
	}
	runs := make([]int, in.count(MaxRecords))
	for i := range runs {
		runs[i] = in.count(MaxRecords)
	}
	n := in.sum(runs, MaxRecords-len(in.d.order))
	if in.cells += n * len(s.keys); in.cells > maxValues {
		in.fail("it holds too many values")
	}
	if in.err != nil {
		return s
	}
	s.frames, s.idx = in.column(n, runs), in.column(n, runs)
	in.addRefs(&s, n)
	in.values(&s, n, runs)
	return s
}

// addRefs adds the records of a shape to the order.
func (in *decoder) addRefs(s *decodedShape, n int) {
	for i := range n {
		at := s.frames.at(i)
		if in.err != nil || at < 0 || at >= int64(len(in.d.frames)) {
			in.fail("a frame is not there")
			return
		}
		f := &in.d.frames[at]
		in.d.order = append(in.d.order, recordRef{len(in.d.shapes), i, frames.Position{
			At: f.At, Session: f.session, Seq: f.seq, Idx: int(s.idx.at(i)),
		}})
	}
}

func (in *decoder) values(s *decodedShape, n int, runs []int) {
	s.columns, s.doubles = make([]column, len(s.keys)), make([]doubles, len(s.keys))
	for c, kind := range s.kinds {
		switch {
		case in.err != nil:
			return
		case kind >= kinds:
			in.fail("an attribute has an unknown kind")
		case kind == kindDouble:
			s.doubles[c] = in.readDoubles(n, runs)
		default:
			s.columns[c] = in.column(n, runs)
		}
		if kind == kindText {
			in.checkTexts(&s.columns[c], n)
		}
	}
}

func (in *decoder) checkTexts(c *column, n int) {
	for i := range n {
		if v := c.at(i); v < 0 || v >= int64(len(in.d.texts)) {
			in.fail("a text is not there")
			return
		}
	}
}
