package mask

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxEscapes is the number of times that a text may be escaped, one escape in another.
const maxEscapes = 3

// readings returns the possible readings of a text, each in the form of names, the text itself first. A backslash or
// a percent sign may begin an escape sequence or be an ordinary character.
func readings(text string) (out []*layer) {
	// add adds a text, and its reading without invisible characters if it has some. It returns the last one added.
	add := func(l *layer) *layer {
		out = append(out, fold(l))
		v := dropInvisible(l)
		if v != l {
			out = append(out, fold(v))
		}
		return v
	}
	l := add(&layer{text: text})
	if !strings.Contains(text, "%") && !strings.Contains(text, `\`) {
		return out
	}
	for left := maxEscapes; left > 0; left-- {
		next, mixed := unescape(l, false)
		if next == nil {
			break
		}
		for other, n := l, left; mixed && n > 0; n-- {
			if other, _ = unescape(other, true); other == nil {
				break
			}
			other = add(other)
		}
		l = add(next)
	}
	return out
}

// dropInvisible returns a text without invisible characters; the same layer if it has none.
func dropInvisible(below *layer) *layer {
	if isASCII(below.text) || strings.IndexFunc(below.text, isIgnorable) < 0 {
		return below
	}
	out := newBuilder(below)
	for i := 0; i < len(below.text); {
		r, n := utf8.DecodeRuneInString(below.text[i:])
		if !isIgnorable(r) {
			for k := range n {
				out.byte(i+k, below.text[i+k])
			}
		}
		i += n
	}
	return out.layer()
}

// unescape returns a text without its escape sequences; nil if it has none. If literal is set, ambiguous sequences
// (isAmbiguous) remain. mixed reports whether the text has ambiguous sequences and others.
func unescape(below *layer, literal bool) (_ *layer, mixed bool) {
	out, ambiguous, certain := newBuilder(below), false, false
	for i := 0; i < len(below.text); {
		r, n := decodeEscape(below.text[i:])
		switch {
		case n == 0:
		case !isAmbiguous(r, below.text[i:i+n]):
			certain = true
		case literal:
			n = 0
		default:
			ambiguous = true
			certain = certain || r == '\\' && strings.HasPrefix(below.text[i+n:], "u") // a sign before \u
		}
		if n == 0 {
			out.byte(i, below.text[i])
			i++
			continue
		}
		out.rune(i, i+n, r)
		i += n
	}
	if !ambiguous && !certain {
		return nil, false
	}
	return out.layer(), ambiguous && certain
}

// decodeEscape returns the character of the escape sequence at the start of a text, of URLs (RFC 3986, UTF-8) or of
// strings in JSON (RFC 8259), and the length of the sequence; 0 if there is none.
func decodeEscape(text string) (rune, int) {
	switch text[0] {
	case '%':
		return decodePercent(text)
	case '\\':
		return decodeBackslash(text)
	}
	return 0, 0
}

// isAmbiguous reports whether the characters after the sign of an escape sequence may begin a name that has other
// escapes, as in CORP\bj\u00f6rn: short sequences of JSON, and letters, digits and control characters of URLs.
func isAmbiguous(r rune, sequence string) bool {
	return len(sequence) == 2 || sequence[0] == '%' && r < utf8.RuneSelf && (isWord(r) || r < ' ')
}

// decodePercent decodes the percent-encoded bytes of one character in UTF-8.
func decodePercent(text string) (rune, int) {
	var bytes [utf8.UTFMax]byte
	for n := range bytes {
		at := text[min(3*n, len(text)):]
		if len(at) < 3 || at[0] != '%' {
			break
		}
		value, err := strconv.ParseUint(at[1:3], 16, 8)
		if err != nil {
			break
		}
		bytes[n] = byte(value)
		if r, size := utf8.DecodeRune(bytes[:n+1]); size == n+1 && (r != utf8.RuneError || n > 0) {
			return r, 3 * (n + 1)
		}
	}
	return 0, 0
}

// shortEscapes maps the letters of JSON's short escape sequences to their characters.
var shortEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func decodeBackslash(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	if r, ok := shortEscapes[text[1]]; ok {
		return r, 2
	}
	unit, n := utf16Unit(text)
	if n == 0 || !utf16.IsSurrogate(unit) {
		return unit, n
	}
	second, more := utf16Unit(text[n:])
	if r := utf16.DecodeRune(unit, second); r != utf8.RuneError {
		return r, n + more
	}
	return 0, 0
}

// utf16Unit decodes \uXXXX.
func utf16Unit(text string) (rune, int) {
	const length = 6
	if len(text) < length || text[:2] != `\u` {
		return 0, 0
	}
	value, err := strconv.ParseUint(text[2:length], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(value), length
}
