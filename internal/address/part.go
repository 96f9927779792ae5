package address

import "strings"

// maxBorder bounds what is read of a part at its ends: no address and no name of a candidate is
// longer.
const maxBorder = 64

// Border is the end of a part of a text that goes on in another part. An address may lie across it.
// The zero value is the border before the first part.
type Border struct {
	given string // the last characters that an address may have
	kept  string // what was made of them
}

// Part cuts every address in a part of a text, and returns its border with the next part. An address
// across the border before is cut as if the text were in one piece.
func (p *Policy) Part(before Border, part string) (string, Border) {
	if p.mode == Keep {
		return part, Border{}
	}
	head := p.head(part)
	if before.given == "" && len(head) < len(part) {
		head = ""
	}
	start := p.across(before, head)
	if rest := part[len(head):]; rest != "" {
		tail := p.tail(rest)
		kept := p.keptTail(tail)
		return start + p.Text(rest[:len(rest)-len(tail)]) + kept, Border{given: tail, kept: kept}
	}
	return start, Border{given: last(before.given + head), kept: last(before.kept + start)} // all of it may be one address
}

// Orphan cuts every address in a part of a text that follows an unknown one. It leaves out the first
// characters where they may be the end of an address, and returns how many they are.
func (p *Policy) Orphan(part string) (text string, skipped int, after Border) {
	if p.mode == Keep {
		return part, 0, Border{}
	}
	head := p.head(part)
	if p.mayEnd(head, part[len(head):]) {
		skipped = len(head)
	}
	text, after = p.Part(Border{}, part[skipped:])
	return text, skipped, after
}

// across returns what stands for the head of a part: with what was kept of the part before it is the
// text across the border, its address cut.
func (p *Policy) across(before Border, head string) string {
	if before.given == "" {
		return p.keptTail(head)
	}
	whole := before.given + head
	cut := p.Text(whole)
	if rest, ok := strings.CutPrefix(cut, before.kept); ok {
		return rest
	}
	switch { // what was kept is no part of the result; it hides the rest
	case !strings.Contains(before.kept, ":") || strings.Contains(before.kept, "::"):
		return ""
	case strings.HasSuffix(before.kept, ":"):
		return ":"
	}
	return "::"
}

// keptTail returns what is kept of the end of a part: of an address that may go on no more than of
// one that is cut. Where addresses are dropped, it waits for the next part.
func (p *Policy) keptTail(tail string) string {
	if p.mode == Drop {
		return ""
	}
	kept := (&Policy{mode: p.mode}).Text(tail) // what goes on may leave the kept networks
	if strings.HasSuffix(kept, ":::") {        // the last colon is of the address if a group follows
		kept = kept[:len(kept)-1]
	}
	return kept
}

// mayEnd reports whether an address may end in head, before rest.
func (p *Policy) mayEnd(head, rest string) bool {
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

// head and tail return the characters at the ends of a part that an address may have.
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

// atBorder reports whether an address may have a character, also in escapes of a URL, or the name of a
// candidate where names are dropped.
func (p *Policy) atBorder(c byte) bool {
	return class[c] != 0 || c == '%' || p.mode == Drop && c < 0x80 && isName(c)
}

// last returns the end of a text that is long enough for an address.
func last(text string) string { return text[max(0, len(text)-maxBorder):] }
