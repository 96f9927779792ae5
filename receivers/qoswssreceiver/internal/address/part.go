package address

import "strings"

// maxBorder bounds the bytes that are read at the ends of a part: no address and no name of a
// candidate is longer.
const maxBorder = 64

// Border is the end of a part of a text that continues in another part. An address may lie across
// it. The zero value is the border before the first part.
type Border struct {
	original    string // the last characters of the part that an address may have
	replacement string // their replacement
}

// Part cuts every address in a part of a text, and returns its border to the next part. An address
// across the border before it is cut as if the text were in one piece.
func (p *Policy) Part(before Border, part string) (string, Border) {
	if p.mode == Keep {
		return part, Border{}
	}
	head := p.head(part)
	if before.original == "" && len(head) < len(part) {
		head = ""
	}
	start := p.replaceHead(before, head)
	if rest := part[len(head):]; rest != "" {
		tail := p.tail(rest)
		kept := p.replaceTail(tail)
		return start + p.Text(rest[:len(rest)-len(tail)]) + kept, Border{original: tail, replacement: kept}
	}
	return start, Border{original: lastBytes(before.original + head), replacement: lastBytes(before.replacement + start)} // all of it may be one address
}

// Orphan cuts every address in a part whose preceding part is unknown. It removes the first
// characters if they may be the end of an address, and returns their number.
func (p *Policy) Orphan(part string) (text string, skipped int, after Border) {
	if p.mode == Keep {
		return part, 0, Border{}
	}
	head := p.head(part)
	if p.mayEndAddress(head, part[len(head):]) {
		skipped = len(head)
	}
	text, after = p.Part(Border{}, part[skipped:])
	return text, skipped, after
}

// replaceHead returns the replacement of the head of a part. After the replacement of the part before
// it, this makes the text across the border, with its address cut.
func (p *Policy) replaceHead(before Border, head string) string {
	if before.original == "" {
		return p.replaceTail(head)
	}
	whole := before.original + head
	cut := p.Text(whole)
	if rest, ok := strings.CutPrefix(cut, before.replacement); ok {
		return rest
	}
	switch { // the replacement is no part of the result; the rest is hidden
	case !strings.Contains(before.replacement, ":") || strings.Contains(before.replacement, "::"):
		return ""
	case strings.HasSuffix(before.replacement, ":"):
		return ":"
	}
	return "::"
}

// replaceTail returns the replacement of the end of a part: of an address that may continue, no more
// than of one that is cut. If addresses are dropped, it is empty until the next part.
func (p *Policy) replaceTail(tail string) string {
	if p.mode == Drop {
		return ""
	}
	kept := (&Policy{mode: p.mode}).Text(tail) // the address may continue out of the kept networks
	if strings.HasSuffix(kept, ":::") {        // the last colon is of the address if a group follows
		kept = kept[:len(kept)-1]
	}
	return kept
}

// mayEndAddress reports whether an address may end in head, which is followed by rest.
func (p *Policy) mayEndAddress(head, rest string) bool {
	switch {
	case head == "" || p.mode == Drop:
		return head != ""
	case rest != "" && (isWord(rest[0]) || rest[0] == '=') && !strings.ContainsAny(head, ".:%"):
		return false
	}
	group := 0
	for group < len(head) && isHex(head[group]) {
		group++
	}
	return group <= 4
}

// head and tail return the characters at the ends of a part that may belong to an address.
func (p *Policy) head(part string) string {
	n := 0
	for n < len(part) && n < maxBorder && p.atBorder(part[n]) {
		n++
	}
	return part[:n]
}

func (p *Policy) tail(part string) string {
	n := len(part)
	for n > 0 && len(part)-n < maxBorder && p.atBorder(part[n-1]) {
		n--
	}
	return part[n:]
}

// atBorder reports whether a character may belong to an address, also in an escape of a URL, or to
// the name of a candidate if names are dropped.
func (p *Policy) atBorder(c byte) bool {
	return addressChars[c] != 0 || c == '%' || p.mode == Drop && c < 0x80 && isName(c)
}

// lastBytes returns the last maxBorder bytes of a text.
func lastBytes(text string) string { return text[max(0, len(text)-maxBorder):] }
