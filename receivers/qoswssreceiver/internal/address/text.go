package address

import (
	"net/netip"
	"strings"
)

// Text cuts every address in a text and leaves the rest as it is. JSON stays JSON.
func (p *Policy) Text(text string) string { return p.text(text, false) }

// Agent cuts every address in a user agent, where "Name/1.2.3.4" is a version.
func (p *Policy) Agent(text string) string { return p.text(text, true) }

// Version cuts every address in the version of a program, which may itself be four numbers.
func (p *Policy) Version(text string) string {
	if quad, n := readQuad(text); n == len(text) && quad.IsValid() {
		return text
	}
	return p.Text(text)
}

// maxPasses bounds the scans of one text.
const maxPasses = 4

// text scans until nothing changes: in malformed texts the replacements of one pass may form
// another address with the characters around them.
func (p *Policy) text(text string, agent bool) string {
	if p.mode == Keep || strings.IndexByte(text, '.') < 0 && !mayHaveIPv6(text) {
		return text
	}
	for range maxPasses {
		cut := p.pass(text, agent)
		if cut == text {
			break
		}
		text = cut
	}
	return text
}

// pass scans once. It replaces escapes only if an address was cut.
func (p *Policy) pass(text string, agent bool) string {
	if plain := unescape(text); len(plain) < len(text) {
		if cut := p.scan(plain, agent); cut != plain {
			return cut
		}
	}
	return p.scan(text, agent)
}

// mayHaveIPv6 reports whether a text has a colon, escaped or not.
func mayHaveIPv6(text string) bool {
	return strings.IndexByte(text, ':') >= 0 || strings.Contains(text, "%3")
}

func (p *Policy) scan(text string, agent bool) string {
	s := scanner{policy: p, text: text, agent: agent}
	s.addresses()
	out := s.result()
	if p.mode == Drop {
		return dropLocalNames(out)
	}
	return out
}

// scanner copies text to out, addresses cut. The text before done is copied.
type scanner struct {
	policy *Policy
	text   string
	agent  bool
	done   int
	out    strings.Builder
}

// result returns the text after all replacements.
func (s *scanner) result() string {
	if s.done == 0 {
		return s.text
	}
	s.out.WriteString(s.text[s.done:])
	return s.out.String()
}

// replace replaces [from, to) by a text.
func (s *scanner) replace(from, to int, with string) {
	s.out.WriteString(s.text[s.done:from])
	s.out.WriteString(with)
	s.done = to
}

// addressChars is 1 for characters that an address may have.
var addressChars = func() (c [256]uint8) {
	for _, b := range []byte("0123456789abcdefABCDEF.:") {
		c[b] = 1
	}
	return c
}()

// addresses finds the runs of characters that an address may have: a run without three dots or two
// colons has none.
func (s *scanner) addresses() {
	text := s.text
	for i := 0; i < len(text); i++ {
		if addressChars[text[i]] == 0 {
			continue
		}
		from, dots, colons := i, 0, 0
		for ; i < len(text) && addressChars[text[i]] != 0; i++ {
			switch text[i] {
			case '.':
				dots++
			case ':':
				colons++
			}
		}
		if dots >= 3 || colons >= 2 {
			i = max(i, s.run(from, i))
		}
	}
}

// run cuts the addresses in a run, group by group, and returns the position at which the scan continues.
func (s *scanner) run(from, to int) int {
	i := s.firstGroup(from, to)
	for i < to {
		if s.text[i] == '.' || s.text[i] == ':' && !s.compression(i, to) {
			i++
			continue
		}
		if next := s.cutIPv6(i, to); next > i {
			i = next
			continue
		}
		end := i
		for end < to && isHex(s.text[end]) {
			end++
		}
		switch {
		case end < to && s.text[end] == '.' && end > i:
			i = s.cutDotted(i, end, to)
		case end == i: // "::" that is no address
			i += 2
		default:
			i = end
		}
	}
	return i
}

// compression reports whether "::" is at i, without a third colon.
func (s *scanner) compression(i, to int) bool {
	return i+1 < to && s.text[i+1] == ':' && (i+2 == to || s.text[i+2] != ':')
}

// firstGroup returns the first position of a run at which an IPv6 address may begin: a word before
// the run, "candidate:" for example, may end in hexadecimal digits, and so may an escape.
func (s *scanner) firstGroup(from, to int) int {
	if n := escape(s.text[:from]); n > 0 {
		return min(from+n, to)
	}
	if from == 0 || !isWord(s.text[from-1]) {
		return from
	}
	end := from
	for end < to && isHex(s.text[end]) {
		end++
	}
	if end == to || s.text[end] != ':' || end-from >= 4 && inUse(s.text[end-4:end]) {
		return from
	}
	for end < to && s.text[end] == ':' {
		end++
	}
	return end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

// parseAddress returns the address of a text that has the form of one.
func parseAddress(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	return a, err == nil
}
