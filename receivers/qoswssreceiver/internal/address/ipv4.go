package address

import (
	"net/netip"
	"strings"
)

// cutDotted cuts the IPv4 address whose first number ends at dot, within a group that begins at from.
// It returns the end of the numbers and dots that it has read.
func (s *scanner) cutDotted(from, dot, to int) int {
	text := s.text
	first := dot
	for first > from && isDigit(text[first-1]) {
		first--
	}
	first = s.numberAfterEscape(first, dot)
	numbers, end := 0, first
	for end < to && isDigit(text[end]) { // all numbers with dots between them
		for end < to && isDigit(text[end]) {
			end++
		}
		numbers++
		if end+1 < to && text[end] == '.' && isDigit(text[end+1]) {
			end++
		}
	}
	if numbers == 0 {
		return dot + 1
	}
	if numbers == 4 || numbers == 5 {
		s.replaceQuad(first, end, numbers)
	}
	return end
}

// replaceQuad replaces four numbers, and a fifth one, which is a port or the last number of the address.
func (s *scanner) replaceQuad(from, to, numbers int) {
	a, n := readQuad(s.text[from:to])
	switch {
	case !a.IsValid() || s.isVersion(from):
	case s.policy.keepsInText(a) && numbers == 4:
	case s.policy.mode == Drop:
		s.replace(from, to, dropped4)
	default:
		last := strings.LastIndexByte(s.text[from:from+n], '.') + 1
		with := "0"
		if numbers == 5 {
			with = "0.0"
		}
		s.replace(from+last, to, with)
	}
}

// readQuad reads the four numbers at the start of a text, also those padded with zeros, and
// returns their length. The address is not valid if one is above 255.
func readQuad(text string) (a netip.Addr, n int) {
	var four [4]byte
	for i := range four {
		if i > 0 {
			if n == len(text) || text[n] != '.' {
				return a, n
			}
			n++
		}
		value, start := 0, n
		for n < len(text) && isDigit(text[n]) && n-start < 4 {
			value = value*10 + int(text[n]-'0')
			n++
		}
		if n == start || n-start > 3 || value > 255 {
			return a, n
		}
		four[i] = byte(value)
	}
	return netip.AddrFrom4(four), n
}

// numberAfterEscape returns the start of the first number if an escape is before it: "%20192.0.2.7"
// or "\u00a0192.0.2.7".
func (s *scanner) numberAfterEscape(first, dot int) int {
	for i := max(first, dot-3); i < dot; i++ {
		percent := i >= 3 && s.text[i-3] == '%' && isHex(s.text[i-2]) && isHex(s.text[i-1])
		unicode := i >= 6 && s.text[i-6:i-4] == `\u` && isHex(s.text[i-4]) && isHex(s.text[i-3]) && isHex(s.text[i-2]) && isHex(s.text[i-1])
		if percent || unicode {
			return i
		}
	}
	return first
}

// isVersion reports whether the text before i makes the numbers at i a version.
func (s *scanner) isVersion(i int) bool {
	before := s.text[:i]
	if n := len(before); n > 0 && before[n-1]|0x20 == 'v' && (n == 1 || !isWord(before[n-2])) {
		return true
	}
	if n := len(before); s.agent && n > 1 && before[n-1] == '/' && isWord(before[n-2]) {
		return true
	}
	const word = "version"
	for range 3 {
		if n := len(before); n > 0 && strings.IndexByte(` :=/"'`, before[n-1]) >= 0 {
			before = before[:n-1]
		}
	}
	n := len(before)
	return n >= len(word) && strings.EqualFold(before[n-len(word):], word)
}
