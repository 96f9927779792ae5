// Package address cuts network addresses before anything else gets them: IPv4 to /24, IPv6 to
// /48. It is pure: text in, text out.
package address

import (
	"net/netip"
	"strings"
)

// The bits that are kept of an address.
const (
	bits4    = 24
	bits6    = 48
	bits6to4 = 16 + bits4 // 2002::/16 has the IPv4 address behind it (RFC 3056)
)

// sixToFour is RFC 3056's prefix.
var sixToFour = netip.MustParsePrefix("2002::/16")

// Cut returns an address with its last bits 0: IPv4, also mapped into IPv6, to /24, IPv6 to /48,
// its zone dropped. It returns false for what is no address.
func Cut(text string) (string, bool) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return "", false
	}
	return cut(a), true
}

func cut(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	bits := bits6
	switch {
	case a.Is4():
		bits = bits4
	case sixToFour.Contains(a):
		bits = bits6to4
	}
	prefix, _ := a.Prefix(bits) // bits fit the address
	return prefix.Addr().String()
}

// Text cuts every address in a text, an SDP for example, and leaves the rest as it is. An address
// ends where neither a hexadecimal digit nor a dot or a colon follows; a port may follow it.
func Text(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		n := run(text)
		if n == 0 {
			n = strings.IndexFunc(text, inAddress)
			if n < 0 {
				n = len(text)
			}
			out.WriteString(text[:n])
			text = text[n:]
			continue
		}
		cut, whole := cutRun(text[:n])
		out.WriteString(cut)
		text = text[n:]
		if whole {
			text = withoutZone(text)
		}
	}
	return out.String()
}

// run is how many characters an address may have from the start of a text on.
func run(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !inAddress(r) })
	if n < 0 {
		return len(text)
	}
	return n
}

func inAddress(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' || r == '.' || r == ':'
}

// cutRun cuts the address that a run is, or those in dotted form that it holds.
func cutRun(run string) (out string, whole bool) {
	bare := strings.TrimRight(run, ".")
	if strings.HasSuffix(bare, ":") && !strings.HasSuffix(bare, "::") {
		bare = bare[:len(bare)-1]
	}
	front := ""
	if strings.HasPrefix(bare, ":") && !strings.HasPrefix(bare, "::") {
		front, bare = ":", bare[1:]
	}
	if cut, ok := Cut(bare); ok {
		return front + cut + run[len(front)+len(bare):], true
	}
	return cutDotted(run), false
}

// cutDotted replaces the last of each four numbers with dots between, wherever they stand.
func cutDotted(run string) string {
	var out strings.Builder
	for i := 0; i < len(run); {
		n, head := dotted(run[i:])
		if n == 0 || i > 0 && (digit(run[i-1]) || run[i-1] == '.') {
			out.WriteByte(run[i])
			i++
			continue
		}
		out.WriteString(run[i : i+head])
		out.WriteByte('0')
		i += n
	}
	return out.String()
}

// dotted returns the length of the four numbers of up to three digits that a text begins with,
// and of the first three with their dots; 0 where it begins with none.
func dotted(text string) (n, head int) {
	for part := range 4 {
		if part > 0 {
			if n == len(text) || text[n] != '.' {
				return 0, 0
			}
			n++
		}
		head = n
		for n < len(text) && digit(text[n]) {
			n++
		}
		if n == head || n-head > 3 {
			return 0, 0
		}
	}
	return n, head
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// withoutZone drops a zone that stands behind an address.
func withoutZone(text string) string {
	zone, ok := strings.CutPrefix(text, "%")
	if !ok {
		return text
	}
	return strings.TrimLeftFunc(zone, func(r rune) bool {
		return r > ' ' && r != '/' && r != ']' && r != '"' && r != ','
	})
}
