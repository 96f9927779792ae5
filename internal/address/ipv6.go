package address

import "strings"

// six cuts the IPv6 address that begins at i. It returns i where none does, else where the scan
// goes on.
func (s *scanner) six(i, to int) int {
	i0 := s.sixStart(i, to)
	f := readSix(s.text[i0:to])
	switch {
	case f.later && !f.inUse(): // what is before that group is no part of an address
	case f.length > 0 && f.isAddress():
		return s.cutSix(i0, i0+f.length, to)
	case f.length == 0 && f.groups >= 4 && i0+f.end == len(s.text) && inUse(f.first): // the text ends within it
		prefix := f.prefix
		if s.policy.mode == Drop {
			prefix = 0
		}
		s.replace(i0+prefix, i0+f.end, "::")
		return i0 + f.end
	}
	return i
}

// sixStart is i, or the last four digits of a longer group there if addresses begin like them:
// what is before may be an escape or a word.
func (s *scanner) sixStart(i, to int) int {
	end := i
	for end < to && isHex(s.text[end]) {
		end++
	}
	if end-i > 4 && inUse(s.text[end-4:end]) {
		return end - 4
	}
	return i
}

// cutSix replaces the address in [from, end), its zone, and the groups of the run that follow it
// and are no port.
func (s *scanner) cutSix(from, end, to int) int {
	a, ok := parsed(s.text[from:end])
	if !ok || s.policy.keepsInText(a.Unmap()) {
		return end
	}
	after := s.pastRest(end, to)
	s.replace(from, after, s.policy.replacement(a, s.text[:from]))
	return after
}

// pastRest skips the zones and groups behind an address.
func (s *scanner) pastRest(end, to int) int {
	for {
		after := s.pastZone(end)
		for to = max(to, after); to < len(s.text) && class[s.text[to]] != 0; {
			to++ // the run that follows the zone
		}
		if after = s.pastGroups(after, to); after == end {
			return end
		}
		end = after
	}
}

// pastGroups skips the groups behind an address, unless they are one port.
func (s *scanner) pastGroups(end, to int) int {
	port := end + 1
	for port < to && isDigit(s.text[port]) {
		port++
	}
	if port == to && end < to && s.text[end] == ':' && port-end <= 6 {
		return end
	}
	for end < to && (s.text[end] == ':' || isHex(s.text[end])) {
		end++
	}
	return end
}

// pastZone skips zones (RFC 4007), also as they are in a URL (RFC 6874), where %5D is the bracket
// behind the address.
func (s *scanner) pastZone(end int) int {
	for end < len(s.text) && s.text[end] == '%' && !hasFoldPrefix(s.text[end:], "%5d") {
		end++
		for end < len(s.text) && (isWord(s.text[end]) || strings.IndexByte("-.~", s.text[end]) >= 0) {
			end++
		}
	}
	return end
}

func hasFoldPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// form is what a text that may begin with an IPv6 address looks like.
type form struct {
	length     int    // of the longest address that the text begins with; 0: none
	end        int    // of the groups that were read
	groups     int    // read, those of an IPv4 tail included
	left       int    // groups before "::"
	prefix     int    // length of the first three groups
	first      string // the first group
	second     string
	compressed bool // has "::"
	pairs      bool // all groups have two digits
	later      bool // one after the first is a group that addresses in use begin with
	quad       bool // ends in the dotted form
}

// readSix reads groups of up to four hexadecimal digits with colons between them, as far as they
// can be an address.
func readSix(text string) (f form) {
	f.pairs = true
	if strings.HasPrefix(text, "::") {
		f.compressed, f.end, f.length = true, 2, 2
	}
	for f.groups < 8 {
		n := 0
		for f.end+n < len(text) && n < 5 && isHex(text[f.end+n]) {
			n++
		}
		if n == 0 || n > 4 {
			return f
		}
		if f.dottedTail(text) {
			return f
		}
		f.group(text[f.end : f.end+n])
		if !f.separator(text) {
			return f
		}
	}
	return f
}

// group takes one group.
func (f *form) group(digits string) {
	switch f.groups {
	case 0:
		f.first = digits
	case 1:
		f.second = digits
	}
	f.end += len(digits)
	f.groups++
	f.pairs = f.pairs && len(digits) == 2
	f.later = f.later || f.groups > 1 && !f.compressed && inUse(digits)
	if f.groups == 3 {
		f.prefix = f.end
	}
	if !f.compressed {
		f.left = f.groups
	}
	if f.compressed && f.groups < 8 || !f.compressed && f.groups == 8 {
		f.length = f.end
	}
}

// separator takes one colon or "::" and reports whether a group may follow.
func (f *form) separator(text string) bool {
	rest := text[f.end:]
	switch {
	case f.groups == 8 || rest == "" || rest[0] != ':':
		return false
	case !strings.HasPrefix(rest, "::"):
		f.end++
		return true
	case f.compressed:
		return false
	}
	f.compressed = true
	f.end += 2
	if f.groups < 8 {
		f.length = f.end
	}
	return true
}

// dottedTail takes an IPv4 address in place of the last two groups.
func (f *form) dottedTail(text string) bool {
	if !f.compressed && f.groups != 6 || f.groups > 6 {
		return false
	}
	a, n := readQuad(text[f.end:])
	if !a.IsValid() || f.compressed && f.groups > 5 {
		return false
	}
	f.end += n
	f.groups += 2
	f.length, f.quad, f.pairs = f.end, true, false
	return true
}

// isAddress tells an address from other texts of its form.
func (f *form) isAddress() bool {
	switch {
	case f.quad:
		return true
	case !f.compressed:
		return !f.pairs
	case f.left > 0 && f.inUse():
		return true
	}
	return f.left > 1 || f.groups-f.left > 1
}

func (f *form) inUse() bool {
	return inUse(f.first) || f.first == "64" && strings.EqualFold(f.second, "ff9b")
}

// inUse reports whether addresses that are in use begin with a group: those of 2000::/3, fc00::/7,
// fe80::/10 and ff00::/8, which are written with four digits.
func inUse(group string) bool {
	if len(group) != 4 {
		return false
	}
	a, b, c := group[0], group[1]|0x20, group[2]|0x20
	switch {
	case a == '2' || a == '3':
		return true
	case a|0x20 != 'f':
		return false
	}
	return b == 'c' || b == 'd' || b == 'f' || b == 'e' && (c == '8' || c == '9' || c == 'a' || c == 'b') // a digit has the bit 0x20
}
