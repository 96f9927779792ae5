package erasure

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IDs finds identifiers and says what replaces them. It is for one goroutine.
type IDs struct {
	lengths []int // of the identifiers in bytes, ascending
	find    func(text string) (replacement string, found bool)
	found   func(text string) // called with each identifier that was replaced; nil: not
}

// NewIDs returns those of a map from identifiers to their replacements. An empty identifier is none.
func NewIDs(replacements map[string]string) *IDs {
	ids := &IDs{find: func(text string) (string, bool) { r, ok := replacements[text]; return r, ok }}
	for id := range replacements {
		ids.addLength(len(id))
	}
	return ids
}

func (ids *IDs) addLength(n int) {
	if i, found := slices.BinarySearch(ids.lengths, n); !found && n > 0 {
		ids.lengths = slices.Insert(ids.lengths, i, n)
	}
}

// ID returns the replacement of a text that is an identifier as a whole.
func (ids *IDs) ID(text string) (replacement string, found bool) {
	if _, known := slices.BinarySearch(ids.lengths, len(text)); !known {
		return text, false
	}
	if replacement, found = ids.find(text); !found {
		return text, false
	}
	if ids.found != nil {
		ids.found(text)
	}
	return replacement, true
}

// Text replaces the identifiers that occur in a text as whole words: no letter, digit or underscore of the
// text continues one.
func (ids *IDs) Text(text string) (string, bool) {
	var out strings.Builder
	kept, changed := 0, false
	before := false // whether the rune before is part of a word
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if word := isWord(r); !before || !word {
			if end, replacement := ids.at(text, i); end > i {
				out.WriteString(text[kept:i])
				out.WriteString(replacement)
				kept, changed = end, true
				last, _ := utf8.DecodeLastRuneInString(text[i:end])
				i, before = end, isWord(last)
				continue
			}
		}
		i, before = i+size, isWord(r)
	}
	if !changed {
		return text, false
	}
	out.WriteString(text[kept:])
	return out.String(), true
}

// at returns the end and the replacement of the longest identifier that begins at i.
func (ids *IDs) at(text string, i int) (end int, replacement string) {
	for _, n := range slices.Backward(ids.lengths) {
		if end = i + n; end > len(text) || !ends(text, i, end) {
			continue
		}
		if replacement, found := ids.ID(text[i:end]); found {
			return end, replacement
		}
	}
	return i, ""
}

// ends reports whether no word continues over end.
func ends(text string, i, end int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[i:end])
	next, size := utf8.DecodeRuneInString(text[end:])
	return size == 0 || !isWord(last) || !isWord(next)
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// JSON replaces identifiers in the strings and the numbers of a JSON text, and leaves the rest as it is,
// byte for byte. A text that is no JSON is replaced like any other.
func (ids *IDs) JSON(text string) (string, bool) {
	if text == "" {
		return text, false
	}
	if !json.Valid([]byte(text)) {
		return ids.Text(text)
	}
	var out strings.Builder
	changed := false
	for i := 0; i < len(text); {
		end := token(text, i)
		if replaced, ok := ids.token(text[i:end]); ok {
			out.WriteString(replaced)
			changed = true
		} else {
			out.WriteString(text[i:end])
		}
		i = end
	}
	if !changed {
		return text, false
	}
	return out.String(), true
}

// token returns the end of the string, the number or the byte that begins at i of valid JSON.
func token(text string, i int) int {
	end := i + 1
	switch c := text[i]; {
	case c == '"':
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		return end + 1
	case c == '-' || c >= '0' && c <= '9':
		for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
			end++
		}
	}
	return end
}

func (ids *IDs) token(literal string) (string, bool) {
	if literal[0] != '"' {
		if strings.IndexByte("-0123456789", literal[0]) < 0 {
			return literal, false
		}
		replacement, found := ids.ID(literal)
		return quoted(replacement), found
	}
	var value string
	if json.Unmarshal([]byte(literal), &value) != nil {
		return literal, false
	}
	replaced, changed := ids.Text(value)
	return quoted(replaced), changed
}

// quoted returns a JSON string.
func quoted(text string) string {
	literal, _ := json.Marshal(text) // a string never fails
	return string(literal)
}
