package protocol

import "sync"

// maxWords bounds the strings that a decoder keeps, maxShapes the shapes of keyed rows. At the limit
// the decoder drops all of them: clients with more do not benefit from them.
const (
	maxWords  = 64
	maxShapes = 32
)

// maxPooled bounds the values of a frame whose memory is reused: 128 kB, far more than usual frames
// need, and far less than the 1 MB that a frame can need.
const maxPooled = 4096

// statsFrame is a Stats and the memory that it is read into.
type statsFrame struct {
	Stats
	d        *Decoder
	fabric   int
	values   []Value
	names    []string // of one keyed row
	measures []Measure
	rows     bool
	keyed    bool
}

var statsFrames = sync.Pool{New: func() any { return new(statsFrame) }}

// Release puts the memory of the last *Stats into a common pool, for connections that are idle
// between frames. That *Stats must not be used afterwards. Calling Release is optional.
func (d *Decoder) Release() {
	if d.stats == nil {
		return
	}
	if cap(d.stats.values) <= maxPooled {
		d.stats.d, d.stats.Fabric = nil, nil
		statsFrames.Put(d.stats)
	}
	d.stats = nil
}

var statsMembers = []member[statsFrame]{
	typeMember[statsFrame](),
	{"seq", true, func(s *scanner, f *statsFrame) { f.Seq = s.seq() }},
	{"at", true, func(s *scanner, f *statsFrame) { f.At = s.time() }},
	{"fabric", true, func(s *scanner, f *statsFrame) { f.fabric = int(s.int(1, MaxFabric)) }},
	{"intervalMs", true, func(s *scanner, f *statsFrame) { f.IntervalMs = s.float(MinIntervalMs, MaxIntervalMs) }},
	{"rows", false, func(s *scanner, f *statsFrame) { f.readRows(s) }},
	{"keyed", false, func(s *scanner, f *statsFrame) { f.readKeyed(s) }},
}

func (d *Decoder) readStats() Frame {
	if d.stats == nil {
		d.stats = statsFrames.Get().(*statsFrame) // nothing else is in there
		d.stats.d = d
	}
	s, f := &d.scan, d.stats
	f.Stats = Stats{Records: f.Records[:0]}
	f.fabric, f.rows, f.keyed, f.values = 0, false, false, f.values[:0]
	readObject(s, statsMembers, f)
	switch {
	case s.err != nil:
	case !f.rows && !f.keyed:
		s.missing("rows")
	case f.rows && f.keyed:
		s.fail(CodeFieldValue, 0, "excludes rows")
		s.inField("keyed")
	default:
		f.Fabric = d.fabricNumbered(f.fabric)
		s.inField("fabric")
	}
	return &f.Stats
}

// readRows reads the measurements in rows.
func (f *statsFrame) readRows(s *scanner) {
	f.rows = true
	f.readList(s, (*statsFrame).readRow)
}

// readList reads an array of at most MaxRows elements, each by a call of one.
func (f *statsFrame) readList(s *scanner, one func(*statsFrame, *scanner)) {
	if !s.open('[', "an array") {
		return
	}
	for i := 0; s.more(']', i == 0); i++ {
		if i == MaxRows {
			s.fail(CodeTooMany, MaxRows, "has more than the %d rows that are allowed", MaxRows)
			return
		}
		one(f, s)
		if s.err != nil {
			s.inElement(i)
			return
		}
	}
}

// readRow reads one row: the number of its column set, then a value for each name.
func (f *statsFrame) readRow(s *scanner) {
	if !s.open('[', "an array") {
		return
	}
	if !s.more(']', true) {
		s.missing("[0]")
		return
	}
	set := int(s.int(1, MaxColumnSets))
	if s.err != nil {
		s.inField("[0]")
		return
	}
	columns := f.d.set(set)
	if columns == nil {
		s.fail(CodeColumnsUnknown, 0, "is of a column set that was not announced on this connection")
		return
	}
	first := len(f.values)
	for i, m := range columns.Measures {
		if !s.more(']', false) {
			s.fail(CodeFieldValue, 0, "has %d values, its column set has %d names", i, len(columns.Names))
			return
		}
		f.values = append(f.values, Value{})
		f.d.readValue(&f.values[len(f.values)-1], m)
		if s.err != nil {
			s.inField(columns.Names[i])
			return
		}
	}
	if s.more(']', false) {
		s.fail(CodeFieldValue, 0, "has more values than the %d names of its column set", len(columns.Names))
		return
	}
	f.Records = append(f.Records, Record{columns, f.values[first:len(f.values):len(f.values)]})
}

// readValue reads the value of a measure, or of UnknownMeasure.
func (d *Decoder) readValue(v *Value, m Measure) {
	s, unknown, text := &d.scan, m == UnknownMeasure, m.Info().Type == Text
	switch c := s.peek(); {
	case c == '-', isDigit(c):
		v.Kind, v.Num = Number, s.number()
		if !unknown {
			s.checkNumber(v.Num, m.Info())
		}
	case c == 'n':
		s.literal("null")
	case c == '"' && (unknown || text):
		v.Kind, v.Str = String, d.word(s.bytes(MaxValueBytes))
	case (c == 't' || c == 'f') && unknown:
		v.Kind = Bool
		if s.bool() {
			v.Num = 1
		}
	case unknown:
		s.wrongType("a number, a string, a boolean or null")
	case text:
		s.wrongType("a string or null")
	default:
		s.wrongType("a number or null")
	}
}

// checkNumber checks that a number can be a value of the measure.
func (s *scanner) checkNumber(v float64, m *MeasureInfo) {
	switch {
	case s.err != nil:
	case m.Type == Text:
		s.fail(CodeFieldType, 0, "must be a string or null, a number came")
	case v < m.Min || v > m.Max:
		s.fail(CodeFieldValue, 0, "must be from %v to %v", m.Min, m.Max)
	case m.Type == Int && v != float64(int64(v)):
		s.fail(CodeFieldValue, 0, "must be a whole number")
	}
}

// commonWords are strings of most rows, shared by all connections.
var commonWords = func() map[string]string {
	m := make(map[string]string)
	for _, w := range []string{
		"", "opus", "red", "PCMU", "PCMA", "G722", "VP8", "VP9", "H264", "H265", "AV1", "rtx",
		"none", "cpu", "bandwidth", "other", "q", "h", "f", "0", "1", "2",
	} {
		m[w] = w
	}
	return m
}()

// word returns b as a string, without an allocation for frequent ones.
func (d *Decoder) word(b []byte) string {
	if w, ok := commonWords[string(b)]; ok {
		return w
	}
	if w, ok := d.words[string(b)]; ok {
		return w
	}
	w := string(b)
	if len(d.words) == maxWords {
		n := 0
		for have := range d.words {
			n += wordBytes + len(have)
		}
		d.words = nil
		_ = d.mayKeep(-n)
	}
	if d.mayKeep(wordBytes+len(w)) != nil {
		return w
	}
	if d.words == nil {
		d.words = make(map[string]string)
	}
	d.words[w] = w
	return w
}
