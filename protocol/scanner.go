package protocol

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one JSON text from start to end and stops at the first error. It is as strict as RFC
// 8259 and reads each message once. buf must be valid UTF-8.
type scanner struct {
	buf     []byte
	pos     int
	depth   int
	err     *Error
	scratch []byte // the last string that had escapes
}

// reset starts another text.
func (s *scanner) reset(buf []byte) {
	s.buf, s.pos, s.depth, s.err = buf, 0, 0, nil
}

// fail records the first error. Its message follows the name of the field.
func (s *scanner) fail(code Code, limit int, format string, args ...any) {
	if s.err == nil {
		s.err = &Error{Code: code, Limit: limit, Message: fmt.Sprintf(format, args...)}
	}
}

// malformed records that the text is not JSON.
func (s *scanner) malformed() {
	if s.pos >= len(s.buf) {
		s.fail(CodeMalformed, 0, "the message ends too early")
		return
	}
	s.fail(CodeMalformed, 0, "the message is not JSON at byte %d", s.pos)
}

// wrongType records that the next value has another type than want.
func (s *scanner) wrongType(want string) {
	if kind := s.kind(); kind == "" {
		s.malformed()
	} else {
		s.fail(CodeFieldType, 0, "must be %s, %s came", want, kind)
	}
}

// inField adds the name of the surrounding member to the field of an error.
func (s *scanner) inField(name string) {
	switch {
	case s.err == nil || s.err.Code == CodeMalformed:
	case s.err.Field == "":
		s.err.Field = name
	case s.err.Field[0] == '[':
		s.err.Field = name + s.err.Field
	default:
		s.err.Field = name + "." + s.err.Field
	}
}

// inElement is in for an element of an array.
func (s *scanner) inElement(i int) {
	if s.err != nil {
		s.inField(fmt.Sprintf("[%d]", i))
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.buf) {
		switch c := s.buf[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// kind returns the type of the next value, "" if it begins no JSON value.
func (s *scanner) kind() string {
	switch c := s.peek(); {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 't', c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-', isDigit(c):
		return "a number"
	}
	return ""
}

// open reads the bracket that begins an array or object. Calls of more or member must follow.
func (s *scanner) open(bracket byte, want string) bool {
	if s.err != nil {
		return false
	}
	if s.peek() != bracket {
		s.wrongType(want)
		return false
	}
	if s.depth++; s.depth > MaxDepth {
		s.fail(CodeMalformed, MaxDepth, "the message is nested deeper than %d", MaxDepth)
		return false
	}
	s.pos++
	return true
}

// more reads the comma before another element, or the closing bracket. It reports whether there is
// another element. first is true for the first element.
func (s *scanner) more(closing byte, first bool) bool {
	if s.err != nil {
		return false
	}
	switch c := s.peek(); {
	case c == closing:
		s.pos++
		s.depth--
		return false
	case first:
		return true
	case c == ',':
		s.pos++
		return true
	}
	s.malformed()
	return false
}

// member is more for objects: it also reads the next name and its colon. The name is valid until
// the next string.
func (s *scanner) member(first bool) ([]byte, bool) {
	if !s.more('}', first) {
		return nil, false
	}
	if s.peek() != '"' {
		s.malformed()
		return nil, false
	}
	name := s.text()
	if s.err != nil {
		return nil, false
	}
	if s.peek() != ':' {
		s.malformed()
		return nil, false
	}
	s.pos++
	return name, true
}

// end checks that the text ends.
func (s *scanner) end() {
	if s.err == nil {
		if s.peek(); s.pos < len(s.buf) {
			s.malformed()
		}
	}
}

// literal reads a word.
func (s *scanner) literal(word string) bool {
	if len(s.buf)-s.pos < len(word) || string(s.buf[s.pos:s.pos+len(word)]) != word {
		s.malformed()
		return false
	}
	s.pos += len(word)
	return true
}

// null reads a null and reports whether there was one.
func (s *scanner) null() bool { return s.peek() == 'n' && s.literal("null") }

// skip reads any value and drops it.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.text()
	case '{':
		s.open('{', "")
		for _, ok := s.member(true); ok; _, ok = s.member(false) {
			s.skip()
		}
	case '[':
		s.open('[', "")
		for first := true; s.more(']', first); first = false {
			s.skip()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// text reads a string and returns its bytes, which are valid until the next string. An unpaired
// surrogate escape becomes U+FFFD, as in encoding/json.
func (s *scanner) text() []byte {
	s.pos++ // the quote
	start := s.pos
	for i := start; i < len(s.buf); i++ {
		switch c := s.buf[i]; {
		case c == '"':
			s.pos = i + 1
			return s.buf[start:i]
		case c == '\\':
			return s.escapedText(start, i)
		case c < ' ':
			s.pos = i
			s.malformed()
			return nil
		}
	}
	s.pos = len(s.buf)
	s.malformed()
	return nil
}

// escapedText reads the rest of a string with its first escape at i.
func (s *scanner) escapedText(start, i int) []byte {
	s.scratch = append(s.scratch[:0], s.buf[start:i]...)
	for s.pos = i; s.pos < len(s.buf); {
		switch c := s.buf[s.pos]; {
		case c == '"':
			s.pos++
			return s.scratch
		case c == '\\':
			if !s.escape() {
				s.malformed()
				return nil
			}
		case c < ' ':
			s.malformed()
			return nil
		default:
			s.scratch = append(s.scratch, c)
			s.pos++
		}
	}
	s.malformed()
	return nil
}

// simpleEscapes maps the letter of an escape to its character.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape, or two that are a surrogate pair.
func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.buf) {
		return false
	}
	if c := simpleEscapes[s.buf[s.pos+1]]; c != 0 {
		s.scratch = append(s.scratch, c)
		s.pos += 2
		return true
	}
	r := s.hexEscape()
	if r < 0 {
		return false
	}
	s.pos += 6
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, s.hexEscape()); pair != utf8.RuneError {
			r = pair
			s.pos += 6
		} else {
			r = utf8.RuneError
		}
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
	return true
}

// hexEscape returns the character of the next \uXXXX without consuming it; -1 if there is none.
func (s *scanner) hexEscape() rune {
	b := s.buf[s.pos:]
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
