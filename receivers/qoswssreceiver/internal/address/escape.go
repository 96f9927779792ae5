package address

import "strings"

// unescape returns a text without the escapes that may hide an address: %3A of a URL, and \u00XX
// of JSON for a printable character that needs none. JSON remains valid. A text without such
// escapes is returned as it is.
func unescape(text string) string {
	if !strings.Contains(text, "%3") && !strings.Contains(text, `\u00`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case len(rest) >= 3 && rest[:2] == "%3" && rest[2]|0x20 == 'a':
			out.WriteByte(':')
			i += 2
		case rest[0] != '\\' || len(rest) < 2:
			out.WriteByte(rest[0])
		default:
			c, n := unicodeEscape(rest)
			if n == 0 {
				out.WriteString(rest[:2])
				i++
				continue
			}
			out.WriteByte(c)
			i += n - 1
		}
	}
	return out.String()
}

// unicodeEscape returns the character of an unnecessary escape of JSON, and the escape's length; 0 for other texts.
func unicodeEscape(rest string) (c byte, n int) {
	const length = len(`\u0031`)
	if len(rest) < length || rest[:4] != `\u00` || !isHex(rest[4]) || !isHex(rest[5]) {
		return 0, 0
	}
	c = digitValue(rest[4])<<4 | digitValue(rest[5])
	if c < ' ' || c > '~' || c == '"' || c == '\\' {
		return 0, 0
	}
	return c, length
}

// escape returns the number of characters after a text that complete an escape of JSON or of a URL
// at its end.
func escape(before string) int {
	switch {
	case strings.HasSuffix(before, `\u`):
		return 4
	case strings.HasSuffix(before, `\`):
		return 1
	case strings.HasSuffix(before, "%"):
		return 2
	}
	return 0
}

func digitValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
