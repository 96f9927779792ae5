package chunk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/qosrtc/qos/storage/internal/frames"
)

// The kinds of attributes.
const (
	kindText = iota
	kindInt
	kindDouble
	kindBool
	kinds
)

// ssrcKey is the attribute that distinguishes the streams of a fabric. Values of a stream
// differ little from one to the next.
const ssrcKey = "qos.stats.ssrc"

// encoder encodes a payload.
type encoder struct {
	records []frames.Record
	texts   map[string]int
	order   []string // texts, by number
	frames  []frame
	frameOf []int // index in frames, by record
}

// frame is what records of one frame have in common.
type frame struct {
	session [16]byte
	seq     int64
	frames.Columns
}

func (f *frame) compare(o *frame) int {
	return cmp.Or(bytes.Compare(f.session[:], o.session[:]), cmp.Compare(f.seq, o.seq), cmp.Compare(f.At, o.At),
		cmp.Compare(f.Fabric, o.Fabric), cmp.Compare(f.ConferenceAt, o.ConferenceAt), cmp.Compare(f.ObservedAt, o.ObservedAt))
}

// encode returns the payload of records, at least one.
func encode(records []frames.Record) []byte {
	e := &encoder{records: records, texts: map[string]int{}}
	e.findFrames()
	rest := e.appendFrames(nil)
	rest = e.appendShapes(rest)
	out := binary.AppendUvarint(nil, uint64(len(e.order)))
	for _, text := range e.order {
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	return append(out, rest...)
}

func (e *encoder) text(s string) int {
	n, ok := e.texts[s]
	if !ok {
		n = len(e.order)
		e.texts[s], e.order = n, append(e.order, s)
	}
	return n
}

// name appends a name: its number, or 0 and the number of a text.
func (e *encoder) name(buf []byte, s string) []byte {
	number := frames.NameNumber(s)
	buf = binary.AppendUvarint(buf, number)
	if number == 0 {
		buf = binary.AppendUvarint(buf, uint64(e.text(s)))
	}
	return buf
}

// findFrames collects the frames of the records, sorts them and fills frameOf.
func (e *encoder) findFrames() {
	numbers := map[frame]int{}
	for i := range e.records {
		f := e.frame(i)
		if _, ok := numbers[f]; !ok {
			numbers[f] = 0
			e.frames = append(e.frames, f)
		}
	}
	slices.SortFunc(e.frames, func(a, b frame) int { return a.compare(&b) })
	for i, f := range e.frames {
		numbers[f] = i
	}
	e.frameOf = make([]int, len(e.records))
	for i := range e.records {
		e.frameOf[i] = numbers[e.frame(i)]
	}
}

func (e *encoder) frame(i int) frame {
	r := &e.records[i]
	return frame{r.Session, r.Seq, r.Columns}
}

func (e *encoder) appendFrames(buf []byte) []byte {
	var runs []int
	var sessions [][16]byte
	for i := range e.frames {
		if i == 0 || e.frames[i].session != e.frames[i-1].session {
			sessions, runs = append(sessions, e.frames[i].session), append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	buf = binary.AppendUvarint(buf, uint64(len(sessions)))
	for i, id := range sessions {
		buf = binary.AppendUvarint(append(buf, id[:]...), uint64(runs[i]))
	}
	for _, value := range []func(*frame) int64{
		func(f *frame) int64 { return f.seq },
		func(f *frame) int64 { return f.At },
		func(f *frame) int64 { return f.ConferenceAt },
		func(f *frame) int64 { return f.ObservedAt - f.At },
		func(f *frame) int64 { return int64(f.Fabric) },
	} {
		values := make([]int64, len(e.frames))
		for i := range e.frames {
			values[i] = value(&e.frames[i])
		}
		buf = appendColumn(buf, values, runs)
	}
	return buf
}

// attribute is the key and the kind of a column.
type attribute struct {
	key  string
	kind byte
}

func kindOf(v any) byte {
	switch v.(type) {
	case string:
		return kindText
	case int64:
		return kindInt
	case float64:
		return kindDouble
	}
	return kindBool
}

// shape is the records with the same name and attributes.
type shape struct {
	name    string
	columns []attribute
	records []int
}

// appendShapes groups the records into shapes and appends these.
func (e *encoder) appendShapes(buf []byte) []byte {
	shapes := map[string]*shape{}
	var order []*shape
	var id []byte
	var keys []string
	for i := range e.records {
		r := &e.records[i]
		keys = slices.AppendSeq(keys[:0], maps.Keys(r.Attributes))
		slices.Sort(keys)
		id = append(binary.AppendUvarint(id[:0], uint64(len(r.Name))), r.Name...)
		for _, k := range keys {
			id = append(append(binary.AppendUvarint(id, uint64(len(k))), k...), kindOf(r.Attributes[k]))
		}
		s := shapes[string(id)]
		if s == nil {
			s = &shape{name: r.Name}
			for _, k := range keys {
				s.columns = append(s.columns, attribute{k, kindOf(r.Attributes[k])})
			}
			shapes[string(id)], order = s, append(order, s)
		}
		s.records = append(s.records, i)
	}
	buf = binary.AppendUvarint(buf, uint64(len(order)))
	for _, s := range order {
		buf = e.appendShape(buf, s)
	}
	return buf
}

func (e *encoder) appendShape(buf []byte, s *shape) []byte {
	buf = e.name(buf, s.name)
	buf = binary.AppendUvarint(buf, uint64(len(s.columns)))
	for _, c := range s.columns {
		buf = append(e.name(buf, c.key), c.kind)
	}
	runs := e.sortStreams(s.records)
	buf = binary.AppendUvarint(buf, uint64(len(runs)))
	for _, n := range runs {
		buf = binary.AppendUvarint(buf, uint64(n))
	}
	frameIndexes := make([]int64, len(s.records))
	idx := make([]int64, len(s.records))
	for i, r := range s.records {
		frameIndexes[i], idx[i] = int64(e.frameOf[r]), int64(e.records[r].Idx)
	}
	buf = appendColumn(appendColumn(buf, frameIndexes, runs), idx, runs)
	return e.appendValues(buf, s, runs)
}

// sortStreams sorts records by stream, then frame and index, and returns the number of records
// of each stream.
func (e *encoder) sortStreams(records []int) (runs []int) {
	stream := func(a, b int) int {
		x, y := &e.records[a], &e.records[b]
		return cmp.Or(bytes.Compare(x.Session[:], y.Session[:]), cmp.Compare(x.Fabric, y.Fabric), cmp.Compare(ssrc(x), ssrc(y)))
	}
	slices.SortFunc(records, func(a, b int) int {
		return cmp.Or(stream(a, b), cmp.Compare(e.frameOf[a], e.frameOf[b]), cmp.Compare(e.records[a].Idx, e.records[b].Idx))
	})
	for i := range records {
		if i == 0 || stream(records[i-1], records[i]) != 0 {
			runs = append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	return runs
}

func ssrc(r *frames.Record) int64 {
	v, _ := r.Attributes[ssrcKey].(int64)
	return v
}

// appendValues appends the columns of the attributes.
func (e *encoder) appendValues(buf []byte, s *shape, runs []int) []byte {
	for _, c := range s.columns {
		if values := e.values(s, c); c.kind == kindDouble {
			buf = appendDoubles(buf, values, runs)
		} else {
			buf = appendColumn(buf, values, runs)
		}
	}
	return buf
}

// values returns a column as integers: numbers of texts, bits of doubles, 0 and 1.
func (e *encoder) values(s *shape, column attribute) []int64 {
	out := make([]int64, len(s.records))
	for i, r := range s.records {
		switch v := e.records[r].Attributes[column.key].(type) {
		case string:
			out[i] = int64(e.text(v))
		case int64:
			out[i] = v
		case float64:
			out[i] = int64(math.Float64bits(v))
		case bool:
			if v {
				out[i] = 1
			}
		}
	}
	return out
}
