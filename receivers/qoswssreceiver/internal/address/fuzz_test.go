package address

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forms are the texts of addresses in which no more than the prefix may be left.
func forms(four uint32, six uint64) map[string]netip.Addr {
	v4 := netip.AddrFrom4([4]byte{byte(four >> 24), byte(four >> 16), byte(four >> 8), byte(four)})
	var raw [16]byte
	for i := range 8 {
		raw[i], raw[15-i] = byte(six>>(8*i)), byte(six>>(8*i))
	}
	raw[0] = 0x20 | raw[0]&1 // of 2000::/3
	v6 := netip.AddrFrom16(raw)
	mapped := netip.AddrFrom16(v4.As16())
	return map[string]netip.Addr{
		v4.String(): v4, v6.String(): v6, v6.StringExpanded(): v6, strings.ToUpper(v6.String()): v6,
		v6.WithZone("eth0").String(): v6, "[" + v6.String() + "]:443": v6, mapped.String(): v4,
		"http://" + v4.String() + ":8080/a": v4, "%5B" + strings.ReplaceAll(v6.String(), ":", "%3A") + "%5D": v6,
	}
}

// checkCut fails where an address has more bits than are kept.
func checkCut(t *testing.T, a netip.Addr, text string) {
	t.Helper()
	if a.IsLoopback() || a.IsUnspecified() {
		return
	}
	require.Equal(t, truncate(a), a, "%q", text)
}

// In any text, an address between blanks is cut, in each of its forms. A second pass finds nothing
// more, and no text becomes longer.
//
// spec: INIT-04, PRIV-01
func FuzzText(f *testing.F) {
	f.Add("c=IN IP4 192.0.2.7", uint32(0xc0000207), uint64(0x20010db800010002))
	f.Add("a=candidate:1 1 udp 1 fe80::1%eth0 9 typ host raddr 10.1.2.3 rport 9", uint32(1), uint64(1))
	f.Add("https://192.0.2.7:80/%5B2001%3Adb8%3A%3A1%5D \\u00312.0.2.7", uint32(0xffffffff), uint64(3))
	f.Add("2001:db8::1::2:3:4:5:6:7:8:9.1.2.3.4.5%a%b", uint32(7), uint64(0x2f))
	f.Add("std::a::b 1.2.3.4.5.6 version=1.2.3.4 5f3c.local \\u2001:1:2:3:4", uint32(7), uint64(0x2f))
	f.Fuzz(func(t *testing.T, text string, four uint32, six uint64) {
		for _, mode := range []Mode{Truncate, Drop} {
			p := policy(t, mode)
			once := p.Text(text)
			require.LessOrEqual(t, len(once), len(text))
			require.Equal(t, once, p.Text(once), "%q twice", text)
			for form, a := range forms(four, six) {
				got := p.Text(text + " x " + form + " " + text)
				for word := range strings.FieldsFuncSeq(form, func(r rune) bool { return strings.ContainsRune("[]/%", r) }) {
					if planted, err := netip.ParseAddr(word); err == nil && truncate(a) != a && !planted.IsLoopback() && !strings.Contains(text, word) {
						require.NotContains(t, strings.ToLower(got), strings.ToLower(word))
					}
				}
				checkWords(t, got, a, once)
			}
		}
	})
}

// checkWords fails where a word of a text is more of an address than its prefix. The words of around
// are exempt: versions, for example.
func checkWords(t *testing.T, text string, planted netip.Addr, around string) {
	t.Helper()
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n/[]%", r) }) {
		if a, err := netip.ParseAddr(word); err == nil && (a.Is4() == planted.Is4()) && truncate(a) == truncate(planted) && !strings.Contains(around, word) {
			checkCut(t, a, text)
		}
	}
}

// Whatever comes, no more bits than those of the prefix are left of an address.
//
// spec: INIT-04, PRIV-01
func FuzzCut(f *testing.F) {
	for _, seed := range []string{"192.0.2.7", "2001:db8:1:2::7", "fe80::1%eth0", "::ffff:192.0.2.7", "2002:c000:207::1", "x.local"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := policy(t, Truncate)
		got, ok := p.Cut(text)
		_, err := netip.ParseAddr(text)
		require.Equal(t, err == nil, ok)
		quoted, err := json.Marshal(map[string]any{"localAddress": text, "addresses": []string{text}})
		require.NoError(t, err)
		var members struct {
			LocalAddress string
			Addresses    []string
		}
		require.NoError(t, json.Unmarshal([]byte(p.Members(quoted)), &members))
		for _, one := range append(members.Addresses, members.LocalAddress, got) {
			if a, err := netip.ParseAddr(one); err == nil {
				require.Empty(t, a.Zone())
				require.False(t, a.Is4In6())
				checkCut(t, a, one)
			}
		}
	})
}

// JSON stays JSON.
//
// spec: PRIV-01
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"\u003192.0.2.7\n2001:db8:1:2::7","b":[1.5,"http:\/\/192.0.2.7\/"]}`)
	f.Add(`["\u2001:db8::1 \u00e9lan.local","\\u0031"]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		for _, mode := range []Mode{Truncate, Drop, Keep} {
			require.True(t, json.Valid([]byte(policy(t, mode).Text(text))), "%q %s", text, policy(t, mode).Text(text))
		}
	})
}

// An address that lies across parts of a text is cut, wherever the parts begin.
//
// spec: PRIV-01
func FuzzPart(f *testing.F) {
	f.Add("a=candidate:1 1 udp 1 ", uint32(0xc0000207), uint64(0x20010db800010002), uint16(23), uint16(5), true)
	f.Add("c=IN IP6 ", uint32(1), uint64(1), uint16(12), uint16(3), false)
	f.Fuzz(func(t *testing.T, text string, four uint32, six uint64, first, second uint16, known bool) {
		for _, mode := range []Mode{Truncate, Drop} {
			p := policy(t, mode)
			for form, a := range forms(four, six) {
				whole := text + " x " + form + " " + text
				cuts := []int{0, int(first) % (len(whole) + 1), int(second) % (len(whole) + 1), len(whole)}
				slices.Sort(cuts)
				var joined strings.Builder
				var border Border
				for i := range 3 {
					part, out := whole[cuts[i]:cuts[i+1]], ""
					if part == "" {
						continue
					}
					if known || cuts[i] == 0 {
						out, border = p.Part(border, part)
					} else {
						out, _, border = p.Orphan(part)
					}
					joined.WriteString(out)
				}
				require.LessOrEqual(t, joined.Len(), len(whole))
				checkWords(t, joined.String(), a, p.Text(text))
			}
		}
	})
}
