package address

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: INIT-04, PRIV-01
func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":                        "192.0.2.0",
		"10.255.254.253":                   "10.255.254.0",
		"127.0.0.1":                        "127.0.0.0",
		"0.0.0.0":                          "0.0.0.0",
		"2001:db8:1:2:3:4:5:6":             "2001:db8:1::",
		"2001:DB8::7":                      "2001:db8::",
		"fe80::1:2:3:4%eth0":               "fe80::",
		"fd12:3456:789a:bcde::1":           "fd12:3456:789a::",
		"::1":                              "::",
		"::ffff:192.0.2.7":                 "192.0.2.0",
		"::ffff:c000:207":                  "192.0.2.0",
		"::ffff:192.0.2.7%eth0":            "192.0.2.0",
		"2002:c000:207::1":                 "2002:c000:200::",
		"64:ff9b::192.0.2.7":               "64:ff9b::",
		"":                                 "",
		"0b7e4d2a-7d0e-4f35-8a8a-1f.local": "",
		"example.org":                      "",
		"192.0.2":                          "",
		"192.0.2.7:80":                     "",
		"192.0.2.7\n":                      "",
		"192.0.2.700":                      "",
		"3221225991":                       "",
		"0xc0.0.2.7":                       "",
		"[2001:db8::7]":                    "",
		"192.0.2.7/24":                     "",
	} {
		got, ok := Cut(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want != "", ok, text)
	}
}

// spec: INIT-04, PRIV-01
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"o=- 46117317 2 IN IP4 192.0.2.7\r\ns=-\r\nt=0 0\r\n":                        "o=- 46117317 2 IN IP4 192.0.2.0\r\ns=-\r\nt=0 0\r\n",
		"c=IN IP4 233.252.0.9/127/3":                                                 "c=IN IP4 233.252.0.0/127/3",
		"c=IN IP6 2001:db8:1:2::7":                                                   "c=IN IP6 2001:db8:1::",
		"a=rtcp:9 IN IP4 192.0.2.7":                                                  "a=rtcp:9 IN IP4 192.0.2.0",
		"a=candidate:1 1 udp 21 192.0.2.7 35 typ host generation 0":                  "a=candidate:1 1 udp 21 192.0.2.0 35 typ host generation 0",
		"a=candidate:1 1 udp 21 fe80::1%eth0 35 typ host":                            "a=candidate:1 1 udp 21 fe80:: 35 typ host",
		"a=candidate:3 1 udp 1 203.0.113.9 41 typ srflx raddr 192.168.1.7 rport 3":   "a=candidate:3 1 udp 1 203.0.113.0 41 typ srflx raddr 192.168.1.0 rport 3",
		"candidate:3 1 udp 1 ::ffff:203.0.113.9 41 typ srflx raddr 2001:db8:1:2::7":  "candidate:3 1 udp 1 203.0.113.0 41 typ srflx raddr 2001:db8:1::",
		"a=remote-candidates:1 192.0.2.7 9 2 192.0.2.8 9":                            "a=remote-candidates:1 192.0.2.0 9 2 192.0.2.0 9",
		"a=candidate:1 1 udp 1 5f3c-4c1e.local 9 typ host":                           "a=candidate:1 1 udp 1 5f3c-4c1e.local 9 typ host",
		"a=fingerprint:sha-256 AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89":      "a=fingerprint:sha-256 AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89",
		"u=https://192.0.2.7:8443/x [2001:db8:1:2::7]:80 a:192.0.2.7, at 192.0.2.7.": "u=https://192.0.2.0:8443/x [2001:db8:1::]:80 a:192.0.2.0, at 192.0.2.0.",
		"192.000.002.007 256.1.2.3":                                                  "192.000.002.0 256.1.2.0",
		"a=fmtp:96 profile-level-id=42e01f;packetization-mode=1 12:34:56":            "a=fmtp:96 profile-level-id=42e01f;packetization-mode=1 12:34:56",
		"":   "",
		"日本": "日本",
	} {
		require.Equal(t, want, Text(text))
	}
}

// spec: INIT-04, PRIV-01
func TestMembers(t *testing.T) {
	for data, want := range map[string]string{
		`{"localAddress":"192.0.2.7","localAddresses":["192.0.2.7","192.0.2.9","x.local",7,"2001:db8:1:2::7"],"setupMs":1.50}`: `{"localAddress":"192.0.2.0","localAddresses":["192.0.2.0","2001:db8:1::"],"setupMs":1.50}`,
		`{"localAddress":"x.local","localAddresses":[],"a":1}`:                                                                 `{"a":1}`,
		`{"relatedADDRESS":"192.0.2.7","Local\u0041ddress":"192.0.2.7"}`:                                                       `{"LocalAddress":"192.0.2.0","relatedADDRESS":"192.0.2.0"}`,
		`{"addresses":"fe80::1%lo","deep":[{"address":{"ip":"192.0.2.7"}},"x"]}`:                                               `{"addresses":"fe80::","deep":[{},"x"]}`,
		`{"addresses":["192.0.2.7"],"addresses":["198.51.100.7"]}`:                                                             `{"addresses":["198.51.100.0"]}`,
		`{"b":1,"a":{"c":"192.0.2.7"}}`:                                                                                        `{"b":1,"a":{"c":"192.0.2.7"}}`,
		`{}`:                                                                                                                   `{}`, `[]`: `{}`, `null`: `{}`, `{`: `{}`,
	} {
		require.Equal(t, want, string(Members([]byte(data))), data)
	}
}

// checkCut fails where an address has more bits than are kept.
func checkCut(t *testing.T, text string) {
	t.Helper()
	a, err := netip.ParseAddr(text)
	require.NoError(t, err)
	require.Empty(t, a.Zone())
	require.False(t, a.Is4In6())
	bits := bits6
	if a.Is4() {
		bits = bits4
	}
	prefix, err := a.Prefix(bits)
	require.NoError(t, err)
	require.Equal(t, prefix.Addr(), a)
}

// Whatever comes, no more bits than those of the prefix are left of an address.
//
// spec: INIT-04, PRIV-01
func FuzzCut(f *testing.F) {
	for _, seed := range []string{"192.0.2.7", "2001:db8:1:2::7", "fe80::1%eth0", "::ffff:192.0.2.7", "2002:c000:207::1", "x.local"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := Cut(text)
		if _, err := netip.ParseAddr(text); err == nil {
			require.True(t, ok)
		}
		if ok {
			checkCut(t, got)
		}
		quoted, err := json.Marshal(map[string]any{"localAddress": text, "addresses": []string{text}})
		require.NoError(t, err)
		var members struct {
			LocalAddress string
			Addresses    []string
		}
		require.NoError(t, json.Unmarshal(Members(quoted), &members))
		for _, one := range append(members.Addresses, members.LocalAddress) {
			if one != "" {
				checkCut(t, one)
			}
		}
	})
}

// In any text, what is an address between blanks is cut, and a second pass finds nothing more.
//
// spec: INIT-04, PRIV-01
func FuzzText(f *testing.F) {
	f.Add("c=IN IP4 192.0.2.7", uint32(0xc0000207), uint64(0x20010db800010002))
	f.Add("a=candidate:1 1 udp 1 fe80::1%eth0 9 typ host raddr 10.1.2.3 rport 9", uint32(1), uint64(1))
	f.Fuzz(func(t *testing.T, text string, four uint32, six uint64) {
		v4 := netip.AddrFrom4([4]byte{byte(four >> 24), byte(four >> 16), byte(four >> 8), byte(four)})
		var raw [16]byte
		for i := range 8 {
			raw[i], raw[15-i] = byte(six>>(8*i)), byte(six>>(8*i))
		}
		v6 := netip.AddrFrom16(raw)
		got := Text(text + " " + v4.String() + " [" + v6.String() + "]:9 " + v4.String() + ":80 " + text)
		require.Equal(t, got, Text(got))
		for word := range strings.FieldsFuncSeq(got, func(r rune) bool { return strings.ContainsRune(" \t\r\n/[]", r) }) {
			if _, err := netip.ParseAddr(word); err == nil {
				checkCut(t, word)
			}
		}
	})
}
