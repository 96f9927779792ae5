package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// forms are the ways in which texts may have a name.
func forms(name string) (out []string) {
	joined := func(separator string) string { return strings.Join(strings.Fields(name), separator) }
	for _, plain := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		out = append(out, plain, url.QueryEscape(plain), url.PathEscape(plain), quoted(plain, true), quoted(plain, false), ascii(plain))
	}
	return append(out, joined("_"), joined("."), joined("-"))
}

// ascii is a name as JSON of ASCII alone has it.
func ascii(name string) string {
	var out strings.Builder
	for _, r := range quoted(name, false) {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// quoted is a name as JSON has it between quotation marks.
func quoted(name string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(name) // a string: it does not fail
	text := strings.TrimSuffix(out.String(), "\n")
	return text[1 : len(text)-1]
}

// firstWord is the length of the word that a text begins with, or of the character that is none.
func firstWord(text string) int {
	if n := escape(text); n > 0 {
		return n
	}
	for i, r := range text {
		if !isWord(r) {
			if i == 0 {
				_, n := utf8.DecodeRuneInString(text)
				return n
			}
			return i
		}
	}
	return len(text)
}

// escape is the length of the escape sequence of a URL or of JSON that a text begins with: behind it a
// word may begin.
func escape(text string) int {
	switch {
	case len(text) > 2 && text[0] == '%' && isHex(text[1]) && isHex(text[2]):
		return 3
	case len(text) > 5 && text[0] == '\\' && text[1] == 'u':
		return 6
	case len(text) > 1 && text[0] == '\\' && text[1] < utf8.RuneSelf:
		return 2
	}
	return 0
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isWord reports whether a character is part of a word, which is longer than it.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.In(r, withoutSpaces...)
}

// withoutSpaces are the scripts in which spaces do not separate words.
//
//nolint:gochecknoglobals // a constant
var withoutSpaces = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}
