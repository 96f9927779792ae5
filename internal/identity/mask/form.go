package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Form returns the form of a name by which texts are searched for it: lower case, composed (NFC), without invisible
// characters, and with one blank for each run of blanks, full stops, hyphens, underscores and plus signs. It is empty
// for a name without other characters.
func Form(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !isSeparator(r) && !isIgnorable(r) }) < 0 {
		return ""
	}
	return fold(dropInvisible(&layer{text: strings.TrimSpace(name)})).text
}

// isSeparator reports whether a character separates the words of a name.
func isSeparator(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r == '+' || unicode.IsSpace(r)
}

// isIgnorable reports whether a character is invisible: formats (Cf), variation selectors, the grapheme joiner.
func isIgnorable(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034f')
}

// isWord reports whether a character is part of a word that may be longer than it.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || isMark(r)) && !unicode.In(r, withoutSpaces...)
}

// isMark reports whether a character changes the one before it; it is part of a word if that one is.
func isMark(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Mn, unicode.Mc) && !isIgnorable(r)
}

// withoutSpaces are the scripts in which spaces do not separate words.
var withoutSpaces = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// firstWord returns the length of the word at the start of a text, or of its first character if no word is there.
func firstWord(text string) int {
	first, n := utf8.DecodeRuneInString(text)
	if !isWord(first) || isMark(first) {
		return n
	}
	for n < len(text) {
		next, size := rune(text[n]), 1
		if next >= utf8.RuneSelf {
			next, size = utf8.DecodeRuneInString(text[n:])
		}
		if !isWord(next) {
			break
		}
		n += size
	}
	return n
}

// Ends reports whether no word of a text crosses a position.
func Ends(text string, at int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, n := utf8.DecodeRuneInString(text[at:])
	return n == 0 || !isWord(last) || !isWord(next)
}

// fold returns the form of a text, as Form does for a name.
func fold(below *layer) *layer {
	out := newBuilder(below)
	if !isASCII(below.text) {
		foldSegments(out)
		return out.layer()
	}
	var last byte
	for i := range len(below.text) {
		c := foldedByte[below.text[i]]
		if c != ' ' || last != ' ' {
			out.byte(i, c)
		}
		last = c
	}
	return out.layer()
}

// foldedByte maps ASCII characters to their form.
var foldedByte = func() (all [utf8.RuneSelf]byte) {
	for c := range all {
		all[c] = byte(lower(rune(c)))
		if isSeparator(rune(c)) {
			all[c] = ' '
		}
	}
	return all
}()

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldSegments folds a text by segments: each a character with its marks.
func foldSegments(out *builder) {
	var segments norm.Iter
	segments.InitString(norm.NFC, out.below.text)
	for from := 0; !segments.Done(); from = segments.Pos() {
		segment := string(segments.Next())
		for i, r := range segment {
			switch {
			case isSeparator(r):
				out.blank(from, segments.Pos())
			case len(segment) == 1:
				out.byte(from, byte(lower(rune(segment[0]))))
			case i == 0:
				out.rune(from, segments.Pos(), lower(r))
			default:
				out.text = utf8.AppendRune(out.text, lower(r))
			}
		}
	}
}

// lower returns a letter in lower case: σ for ς, too.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }
