// Package visible decides which texts may be IDs and names that people compare by eye. Two IDs that look the same
// must be the same.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits in words, for faults.
const (
	IDLimit   = "be UTF-8 without blanks, control characters and characters that cannot be seen"
	NameLimit = "be UTF-8 without control characters and characters that change the direction of text"
)

// ID reports whether a text has only characters that can be seen: no blank, control character, zero-width
// character, mark of direction, variation selector, or code point that is not assigned. The empty text has none.
func ID(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == brailleBlank ||
			unicode.In(r, unicode.Co, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// brailleBlank is the one symbol that is drawn as a blank.
const brailleBlank = '\u2800'

// Name reports whether a text is one line whose characters appear in their order. Blanks and joiners are parts of
// names, control characters are not. The empty text is one.
func Name(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}
