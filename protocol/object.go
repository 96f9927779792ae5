package protocol

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// member describes one member of an object, and how it is read into a T.
type member[T any] struct {
	name     string
	required bool
	read     func(*scanner, *T)
}

// readObject reads an object by a table of at most 64 members. It skips unknown members and treats
// null as absent. It refuses a known member that occurs twice, since readers differ on which one
// counts.
func readObject[T any](s *scanner, members []member[T], v *T) {
	if !s.open('{', "an object") {
		return
	}
	var seen, set uint64
	for name, ok := s.member(true); ok; name, ok = s.member(false) {
		i := memberIndex(members, name)
		if i < 0 {
			s.skip()
			continue
		}
		if seen&(1<<i) != 0 {
			s.fail(CodeMalformed, 0, "the member %s stands twice", members[i].name)
			return
		}
		seen |= 1 << i
		if s.null() {
			continue
		}
		members[i].read(s, v)
		if s.err != nil {
			s.inField(members[i].name)
			return
		}
		set |= 1 << i
	}
	for i := range members {
		if members[i].required && set&(1<<i) == 0 {
			s.missing(members[i].name)
			return
		}
	}
}

func memberIndex[T any](members []member[T], name []byte) int {
	for i := range members {
		if string(name) == members[i].name {
			return i
		}
	}
	return -1
}

// missing records that a required member is absent.
func (s *scanner) missing(name string) {
	if s.err == nil {
		s.err = &Error{Code: CodeFieldMissing, Field: name, Message: "is required"}
	}
}

// skipMember returns a member that is read elsewhere, such as type.
func skipMember[T any](name string) member[T] {
	return member[T]{name, false, func(s *scanner, _ *T) { s.skip() }}
}

// textMember returns an optional string of at most limit bytes.
func textMember[T any](name string, limit int, field func(*T) *string) member[T] {
	return member[T]{name, false, func(s *scanner, v *T) { *field(v) = s.str(limit) }}
}

// idMember returns a required, non-empty string of at most limit bytes.
func idMember[T any](name string, limit int, field func(*T) *string) member[T] {
	return member[T]{name, true, func(s *scanner, v *T) { *field(v) = s.id(limit) }}
}

// bytes reads a string of at most limit bytes; they are valid until the next string.
func (s *scanner) bytes(limit int) []byte {
	if s.peek() != '"' {
		s.wrongType("a string")
		return nil
	}
	b := s.text()
	if len(b) > limit {
		s.fail(CodeFieldTooLong, limit, "is %d bytes, at most %d are allowed", len(b), limit)
	}
	return b
}

// str reads a string of at most limit bytes.
func (s *scanner) str(limit int) string {
	b := s.bytes(limit)
	if s.err != nil {
		return ""
	}
	return string(b)
}

// id reads a string of 1 to limit bytes.
func (s *scanner) id(limit int) string {
	v := s.str(limit)
	if v == "" {
		s.fail(CodeFieldValue, 0, "must not be empty")
	}
	return v
}

// chars reads a string of at most limit characters.
func (s *scanner) chars(limit int) string {
	v := s.str(limit * utf8.UTFMax)
	if s.err != nil && s.err.Code == CodeFieldTooLong {
		s.err.Limit = limit
		s.err.Message = "is longer than the " + strconv.Itoa(limit) + " characters that are allowed"
		return ""
	}
	if n := utf8.RuneCountInString(v); n > limit {
		s.fail(CodeFieldTooLong, limit, "is %d characters, at most %d are allowed", n, limit)
	}
	return v
}

// enum reads one of several words.
func (s *scanner) enum(words []string) string {
	b := s.bytes(MaxFrameBytes)
	if s.err != nil {
		return ""
	}
	for _, w := range words {
		if string(b) == w {
			return w
		}
	}
	s.fail(CodeFieldValue, 0, "must be one of %q", words)
	return ""
}

// float reads a number from low to high.
func (s *scanner) float(low, high float64) float64 {
	if c := s.peek(); c != '-' && !isDigit(c) {
		s.wrongType("a number")
		return 0
	}
	v := s.number()
	if v < low || v > high {
		s.fail(CodeFieldValue, 0, "must be from %v to %v", low, high)
	}
	return v
}

// int reads a whole number from low to high.
func (s *scanner) int(low, high int64) int64 {
	if c := s.peek(); c != '-' && !isDigit(c) {
		s.wrongType("a number")
		return 0
	}
	v := s.number()
	if v != math.Trunc(v) {
		s.fail(CodeFieldValue, 0, "must be a whole number")
	} else if v < float64(low) || v > float64(high) {
		s.fail(CodeFieldValue, 0, "must be from %d to %d", low, high)
	}
	return int64(v)
}

// time reads a time, in ms since the epoch.
func (s *scanner) time() int64 { return s.int(1, MaxSeq) }

// bool reads a boolean.
func (s *scanner) bool() bool {
	switch s.peek() {
	case 't':
		return s.literal("true")
	case 'f':
		s.literal("false")
	default:
		s.wrongType("a boolean")
	}
	return false
}

// raw reads an object of at most limit bytes, and returns its text.
func (s *scanner) raw(limit int) []byte {
	if s.peek() != '{' {
		s.wrongType("an object")
		return nil
	}
	start := s.pos
	s.skip()
	if s.err != nil {
		return nil
	}
	if n := s.pos - start; n > limit {
		s.fail(CodeFieldTooLong, limit, "is %d bytes, at most %d are allowed", n, limit)
		return nil
	}
	return append([]byte(nil), s.buf[start:s.pos]...)
}

// array reads an array and calls read for each element. It refuses an array with more than limit
// elements.
func (s *scanner) array(limit int, read func()) {
	if !s.open('[', "an array") {
		return
	}
	for i := 0; s.more(']', i == 0); i++ {
		if i == limit {
			s.fail(CodeTooMany, limit, "has more than the %d elements that are allowed", limit)
			return
		}
		read()
		s.inElement(i)
	}
}

// userID reads a user ID: a string, or an object (interface document 2.2).
func (s *scanner) userID() UserID {
	if s.peek() == '"' {
		name := s.id(MaxIDBytes)
		return UserID{Name: name, Alias: name}
	}
	if s.kind() != "an object" {
		s.wrongType("a string or an object")
		return UserID{}
	}
	var u UserID
	readObject(s, userIDMembers, &u)
	if u.Name == "" {
		u.Name = u.Alias // INIT-03: the alias replaces a missing userName
	}
	return u
}

var userIDMembers = []member[UserID]{
	{"userName", false, func(s *scanner, u *UserID) { u.Name = s.nonEmptyChars(MaxUserNameChars) }},
	{"aliasName", true, func(s *scanner, u *UserID) { u.Alias = s.nonEmptyChars(MaxUserNameChars) }},
}

func (s *scanner) nonEmptyChars(limit int) string {
	v := s.chars(limit)
	if v == "" {
		s.fail(CodeFieldValue, 0, "must not be empty")
	}
	return v
}
