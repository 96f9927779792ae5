package protocol

import "slices"

// readKeyed reads the measurements in the keyed form.
func (f *statsFrame) readKeyed(s *scanner) {
	f.keyed = true
	f.readList(s, (*statsFrame).readKeyedRow)
}

// readKeyedRow reads one object. Its members make its column set.
func (f *statsFrame) readKeyedRow(s *scanner) {
	if !s.open('{', "an object") {
		return
	}
	var shape Columns
	f.names, f.measures = f.names[:0], f.measures[:0]
	first := len(f.values)
	for name, ok := s.member(true); ok; name, ok = s.member(false) {
		switch {
		case string(name) == "statsType":
			s.once(&shape.StatsType, "statsType", s.statsType)
		case string(name) == "mediaType":
			s.once(&shape.MediaType, "mediaType", s.mediaType)
		default:
			m, known := measureByName[string(name)] // no allocation
			if !known {
				m = UnknownMeasure
			}
			f.readKeyedValue(s, m)
		}
		if s.err != nil {
			return
		}
	}
	if s.err == nil && shape.StatsType == "" {
		s.missing("statsType")
	}
	s.checkMediaType(shape.StatsType, shape.MediaType)
	if s.err != nil {
		return
	}
	shape.Names, shape.Measures = f.names, f.measures
	f.Records = append(f.Records, Record{f.d.shape(&shape), f.values[first:len(f.values):len(f.values)]})
}

// once reads a word that may occur once.
func (s *scanner) once(word *string, name string, read func() string) {
	if *word != "" {
		s.fail(CodeMalformed, 0, "the member %s stands twice", name)
		return
	}
	if s.null() {
		return
	}
	*word = read()
	s.inField(name)
}

// readKeyedValue reads the value of a measure. It ignores and counts UnknownMeasure.
func (f *statsFrame) readKeyedValue(s *scanner, m Measure) {
	if m == UnknownMeasure {
		f.d.unknownColumns++
		s.skip()
		return
	}
	if slices.Contains(f.measures, m) {
		s.fail(CodeMalformed, 0, "the member %s stands twice", m)
		return
	}
	f.names, f.measures = append(f.names, m.String()), append(f.measures, m)
	f.values = append(f.values, Value{})
	f.d.readValue(&f.values[len(f.values)-1], m)
	s.inField(m.String())
}

// shape returns a column set that is equal to c and may be kept.
func (d *Decoder) shape(c *Columns) *Columns {
	for _, have := range d.keyed {
		if have.equal(c) {
			return have
		}
	}
	kept := &Columns{StatsType: c.StatsType, MediaType: c.MediaType, Names: slices.Clone(c.Names), Measures: slices.Clone(c.Measures)}
	if len(d.keyed) == maxShapes {
		n := 0
		for _, have := range d.keyed {
			n += have.bytes()
		}
		d.keyed = nil
		_ = d.mayKeep(-n)
	}
	if d.mayKeep(kept.bytes()) != nil {
		return kept
	}
	d.keyed = append(d.keyed, kept)
	return kept
}
