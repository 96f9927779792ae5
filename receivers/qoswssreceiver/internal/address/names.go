package address

import "strings"

// localDomain is the domain of multicast DNS (RFC 6762).
const localDomain = ".local"

// droppedName replaces each name that is dropped.
const droppedName = "x.local"

// dropLocalNames replaces names of multicast DNS: that of a candidate hides its address and
// exists for one session, that of a machine often contains its owner's name.
func dropLocalNames(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i+len(localDomain) <= len(text); i++ {
		end := i + len(localDomain)
		if text[i] != '.' || !strings.EqualFold(text[i:end], localDomain) || continuesName(text[end:]) {
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
		out.WriteString(droppedName)
		done = end
		i = end - 1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// afterEscape returns the start of a name that may follow an escape of JSON or of a URL.
func afterEscape(text string, from int) int {
	n := escape(text[:from])
	if n == 1 && text[from] == 'u' {
		n = len("u0031")
	}
	return from + n
}

// continuesName reports whether the text after ".local" makes it a part of something else: of a longer
// name, or of a call in a program.
func continuesName(rest string) bool {
	if rest == "" {
		return false
	}
	return isWord(rest[0]) || rest[0] == '-' || rest[0] == '(' || rest[0] == '.' && len(rest) > 1 && isWord(rest[1])
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }
