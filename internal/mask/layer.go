package mask

import (
	"sort"
	"unicode/utf8"
)

// layer is a text after one more step of reading: without escape sequences, without characters that cannot be seen, or in
// the form of names.
type layer struct {
	text  string
	below *layer // that was read; nil: none
	parts []part // ascending
}

// part is a part of a layer, from a position to that of the next part. Where end is 0, it has the bytes that are below at
// the same distance. Otherwise it is there for what is below up to end.
type part struct{ at, below, end int }

// source returns which part of the lowest layer a part of the text is there for. It is not empty.
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

// part returns the one that has a position. Before the first one all positions are those below.
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

func build(below *layer) *builder {
	return &builder{below: below, text: make([]byte, 0, len(below.text)+utf8.UTFMax)}
}

func (b *builder) layer() *layer { return &layer{text: string(b.text), below: b.below, parts: b.parts} }

func (b *builder) begin(p part) {
	b.last, b.parts = p, append(b.parts, p)
}

// byte writes a byte in place of the one at a position below.
func (b *builder) byte(from int, c byte) {
	if b.last.end > 0 || from-len(b.text) != b.last.below-b.last.at {
		b.begin(part{len(b.text), from, 0})
	}
	b.text = append(b.text, c)
}

// rune writes a character in place of a part below.
func (b *builder) rune(from, end int, r rune) {
	b.begin(part{len(b.text), from, end})
	b.text = utf8.AppendRune(b.text, r)
}

// blank writes a blank in place of a separator below, unless it follows another one.
func (b *builder) blank(from, end int) {
	switch n := len(b.text); {
	case n > 0 && b.text[n-1] == ' ':
	case end == from+1:
		b.byte(from, ' ')
	default:
		b.rune(from, end, ' ')
	}
}
