package address

import "strings"

// cutIPv6 cuts the IPv6 address that begins at i. It returns the position at which the scan continues,
// i if there is no address.
func (s *scanner) cutIPv6(i, to int) int {
	i0 := s.ipv6Start(i, to)
	f := readIPv6(s.text[i0:to])
	switch {
	case f.later && !f.inUse(): // the groups before that one are no part of an address
	case f.length > 0 && f.isAddress():
		return s.replaceIPv6(i0, i0+f.length, to)
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

// ipv6Start returns i, or the start of the last four digits of a longer group at i if addresses in
// use begin with them: the characters before may be an escape or a word.
func (s *scanner) ipv6Start(i, to int) int {
	end := i
	for end < to && isHex(s.text[end]) {
		end++
	}
	if end-i > 4 && inUse(s.text[end-4:end]) {
		return end - 4
	}
	return i
}

// replaceIPv6 replaces the address in [from, end), its zone, and the groups of the run that follow it,
// except a port. It returns the end of what it replaced.
func (s *scanner) replaceIPv6(from, end, to int) int {
	a, ok := parseAddress(s.text[from:end])
	if !ok || s.policy.keepsInText(a.Unmap()) {
		return end
	}
	after := s.endOfRest(end, to)
	s.replace(from, after, s.policy.replacement(a, s.text[:from]))
	return after
}

// endOfRest returns the end of the zones and groups after an address.
func (s *scanner) endOfRest(end, to int) int {
	for {
		after := s.endOfZone(end)
		for to = max(to, after); to < len(s.text) && addressChars[s.text[to]] != 0; {
			to++ // the run that follows the zone
		}
		if after = s.endOfGroups(after, to); after == end {
			return end
		}
		end = after
	}
}

// endOfGroups returns the end of the groups after an address, or end if they are one port.
func (s *scanner) endOfGroups(end, to int) int {
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

// endOfZone returns the end of the zones after an address (RFC 4007), also in a URL (RFC 6874),
// where %5D is the bracket after the address.
func (s *scanner) endOfZone(end int) int {
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

// form describes the start of a text that may be an IPv6 address.
type form struct {
	length     int    // of the longest address at the start of the text; 0: none
	end        int    // of the groups that were read
	groups     int    // number of groups, with those of an IPv4 tail
	left       int    // groups before "::"
	prefix     int    // length of the first three groups
	first      string // the first group
	second     string
	compressed bool // has "::"
	pairs      bool // all groups have two digits
	later      bool // a group after the first one may begin an address in use
	quad       bool // ends in the dotted form of IPv4
}

// readIPv6 reads groups of up to four hexadecimal digits with colons between them, as long as they
// may be an address.
func readIPv6(text string) (f form) {
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

// group adds one group.
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

// separator reads one colon or "::" and reports whether a group may follow.
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

// dottedTail reads an IPv4 address instead of the last two groups, and reports whether there was one.
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

// isAddress reports whether a text of this form is an address.
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

// inUse reports whether addresses in use begin with a group: those of 2000::/3, fc00::/7,
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
