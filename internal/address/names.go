package address

import "strings"

// local is the domain of multicast DNS (RFC 6762).
const local = ".local"

// dropped is the name that stands for one that was dropped.
const dropped = "x.local"

// withoutLocalNames replaces the names of multicast DNS: that of a candidate hides its address and
// lives for one session, that of a machine often names its owner.
func withoutLocalNames(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i+len(local) <= len(text); i++ {
		end := i + len(local)
		if text[i] != '.' || !strings.EqualFold(text[i:end], local) || goesOn(text[end:]) {
			continue
		}
		from := i
		for from > done && isName(text[from-1]) {
			from--
		}
		from = afterEscape(text, from)
		if from >= i {
			continue
		}
		out.WriteString(text[done:from])
		out.WriteString(dropped)
		done = end
		i = end - 1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// afterEscape returns where a name begins that may follow an escape of JSON or of a URL.
func afterEscape(text string, from int) int {
	n := escape(text[:from])
	if n == 1 && text[from] == 'u' {
		n = len("u0031")
	}
	return from + n
}

// goesOn reports whether what follows ".local" makes it a part of something else: of a longer name,
// or of a call in a program.
func goesOn(rest string) bool {
	if rest == "" {
		return false
	}
	return isWord(rest[0]) || rest[0] == '-' || rest[0] == '(' || rest[0] == '.' && len(rest) > 1 && isWord(rest[1])
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }
