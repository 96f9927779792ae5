package address

import (
	"net/netip"
	"strings"
)

// dotted cuts the IPv4 address whose first number ends at dot, within a group that begins at from.
// It returns the end of the numbers and dots that it has judged.
func (s *scanner) dotted(from, dot, to int) int {
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
		s.quad(first, end, numbers)
	}
	return end
}

// quad cuts four numbers, and a fifth, which is a port or the last number of the address.
func (s *scanner) quad(from, to, numbers int) {
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

// readQuad reads the four numbers that a text begins with, also those padded with zeros, and
// returns their length. The address is not valid where one is above 255.
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

// numberAfterEscape returns where the first number begins when an escape stands before it: "%20192.0.2.7"
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

// isVersion reports whether numbers that begin at i are a version by what stands before them.
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
