package mask

import (
	"sort"
	"unicode/utf8"
)

// layer is a text after one step of reading: without escape sequences, without invisible characters, or in the form
// of names.
type layer struct {
	text  string
	below *layer // the text that it was read from; nil: none
	parts []part // ascending
}

// part is a part of a layer: at is its position, below the position that it was read from. If end is 0, its bytes are
// those of the layer below. Otherwise it replaces the bytes below up to end.
type part struct{ at, below, end int }

// source returns the positions in the lowest layer that a part of the text was read from. The part must not be empty.
func (l *layer) source(from, to int) (int, int) {
	for ; l.below != nil; l = l.below {
		from, to = l.start(from), l.end(to)
	}
	return from, to
}

func (l *layer) start(at int) int {
	p := l.part(at)
	if p.end > 0 {
		return p.below
	}
	return p.below + at - p.at
}

func (l *layer) end(at int) int {
	p := l.part(at - 1)
	if p.end > 0 {
		return p.end
	}
	return p.below + at - p.at
}

// part returns the part at a position. Positions before the first part are the same in the layer below.
func (l *layer) part(at int) part {
	next := sort.Search(len(l.parts), func(i int) bool { return l.parts[i].at > at })
	if next == 0 {
		return part{}
	}
	return l.parts[next-1]
}

// builder writes a layer.
type builder struct {
	below *layer
	text  []byte
	parts []part
	last  part
}

func newBuilder(below *layer) *builder {
	return &builder{below: below, text: make([]byte, 0, len(below.text)+utf8.UTFMax)}
}

func (b *builder) layer() *layer { return &layer{text: string(b.text), below: b.below, parts: b.parts} }

func (b *builder) begin(p part) {
	b.last, b.parts = p, append(b.parts, p)
}

// byte writes a byte that was read from one byte below.
func (b *builder) byte(from int, c byte) {
	if b.last.end > 0 || from-len(b.text) != b.last.below-b.last.at {
		b.begin(part{len(b.text), from, 0})
	}
	b.text = append(b.text, c)
}

// rune writes a character that was read from [from, end) below.
func (b *builder) rune(from, end int, r rune) {
	b.begin(part{len(b.text), from, end})
	b.text = utf8.AppendRune(b.text, r)
}

// blank writes a blank for a separator below, unless the text ends with one.
func (b *builder) blank(from, end int) {
	switch n := len(b.text); {
	case n > 0 && b.text[n-1] == ' ':
	case end == from+1:
		b.byte(from, ' ')
	default:
		b.rune(from, end, ' ')
	}
}
