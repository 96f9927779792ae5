package address

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: INIT-04, PRIV-01
func TestText(t *testing.T) {
	p := policy(t, Truncate, "203.0.113.64/26", "2001:db8:7::/48")
	for text, want := range map[string]string{
		"o=- 46117317 2 IN IP4 192.0.2.7\r\ns=-\r\nt=0 0\r\n":                      "o=- 46117317 2 IN IP4 192.0.2.0\r\ns=-\r\nt=0 0\r\n",
		"c=IN IP4 233.252.0.9/127/3":                                               "c=IN IP4 233.252.0.0/127/3",
		"c=IN IP6 2001:db8:1:2::7":                                                 "c=IN IP6 2001:db8:1::",
		"c=IN IP6 ::ffff:192.0.2.7":                                                "c=IN IP6 ::",
		"a=rtcp:9 IN IP4 192.0.2.7":                                                "a=rtcp:9 IN IP4 192.0.2.0",
		"a=candidate:1 1 udp 21 192.0.2.7 35 typ host generation 0":                "a=candidate:1 1 udp 21 192.0.2.0 35 typ host generation 0",
		"a=candidate:1 1 udp 21 fe80::1%eth0 35 typ host":                          "a=candidate:1 1 udp 21 fe80:: 35 typ host",
		"a=candidate:3 1 udp 1 203.0.113.9 41 typ srflx raddr 192.168.1.7 rport 3": "a=candidate:3 1 udp 1 203.0.113.0 41 typ srflx raddr 192.168.1.0 rport 3",
		"candidate:3 1 udp 1 203.0.113.77 41 typ relay raddr 192.0.2.7 rport 3":    "candidate:3 1 udp 1 203.0.113.77 41 typ relay raddr 192.0.2.0 rport 3",
		"candidate:3 1 udp 1 ::ffff:203.0.113.9 41 raddr 2001:db8:1:2::7":          "candidate:3 1 udp 1 203.0.113.0 41 raddr 2001:db8:1::",
		"a=remote-candidates:1 192.0.2.7 9 2 192.0.2.8 9":                          "a=remote-candidates:1 192.0.2.0 9 2 192.0.2.0 9",
		"turn:[2001:db8:7::9]:3478 turn:203.0.113.70:3478?transport=udp":           "turn:[2001:db8:7::9]:3478 turn:203.0.113.70:3478?transport=udp",

		"https://192.0.2.7:8443/x [2001:db8:1:2::7]:80 a:192.0.2.7, at 192.0.2.7.": "https://192.0.2.0:8443/x [2001:db8:1::]:80 a:192.0.2.0, at 192.0.2.0.",
		"http://[2001:db8:1:2::7%25eth0]/ http://[2001:DB8:1:2:3:4:5:6]:8080/":     "http://[2001:db8:1::]/ http://[2001:db8:1::]:8080/",
		"connect ECONNREFUSED 2001:db8:1:2:3:4:5:6:443":                            "connect ECONNREFUSED 2001:db8:1:::443",
		"connect ECONNREFUSED 2001:db8:1:2::5:443":                                 "connect ECONNREFUSED 2001:db8:1::",
		"remote:2001:db8:1:2:3:4:5:6 node:fd00:1:2:3::4 IP=fe80::1:2,":             "remote:2001:db8:1:: node:fd00:1:2:: IP=fe80::,",
		"cafe:2001:db8:1:2:3:4:5:6 cafe:2001:db8:1:2::5":                           "cafe:2001:db8:1:: cafe:2001:db8:1::",
		"::ffff:192.0.2.7 ::ffff:c000:207 ::192.0.2.7 64:ff9b::c000:207":           "192.0.2.0 192.0.2.0 :: 64:ff9b::",
		"addr_2001:db8:1:2::7 日2001:db8:1:2::7 x192.0.2.7y":                        "addr_2001:db8:1:: 日2001:db8:1:: x192.0.2.0y",
		`{"a":"x\nc=IN IP6 \n2001:db8:1:2::7\t192.0.2.7"}`:                         `{"a":"x\nc=IN IP6 \n2001:db8:1::\t192.0.2.0"}`,
		`{"\u003192.0.2.7":"\u0032001:db8\u003a1:2::7","b":"\u0022\\u0031"}`:       `{"192.0.2.0":"2001:db8:1::","b":"\u0022\\u0031"}`,
		`\u00a0192.0.2.7 \u000a2001:db8:1:2::7 %20192.0.2.7 %0A2001:db8:1:2::7`:    `\u00a0192.0.2.0 \u000a2001:db8:1:: %20192.0.2.0 %0A2001:db8:1::`,
		"?ip=%5B2001%3Adb8%3A1%3a2%3A%3A7%5D%3A80":                                 "?ip=%5B2001:db8:1::%5D:80",
		"192.000.002.007 from 192.0.2.7.443 and 192.0.2.7-":                        "192.000.002.0 from 192.0.2.0.0 and 192.0.2.0-",
		"the text ends in 2001:db8:1:2:3:4":                                        "the text ends in 2001:db8:1::",

		"o=- 46117317 2 IN IP4 127.0.0.1 0.0.0.0 ::1 :: [::]:80":                                 "o=- 46117317 2 IN IP4 127.0.0.1 0.0.0.0 ::1 :: [::]:80",
		"v1.2.3.4 version 1.2.3.4 Version/1.2.3.4 version=\"1.2.3.4\" 256.1.2.3 1.3.6.1.4.1.311": "v1.2.3.4 version 1.2.3.4 Version/1.2.3.4 version=\"1.2.3.4\" 256.1.2.3 1.3.6.1.4.1.311",
		"Chrome/120.0.6099.109 at 12:34:56.789 2026-11-23T12:34:56.789Z 1.2.3":                   "Chrome/120.0.6099.109 at 12:34:56.789 2026-11-23T12:34:56.789Z 1.2.3",
		"std::vector webrtc::Call a::b ::add main::face::add a::before dead::beef std::mac::x":   "std::vector webrtc::Call a::b ::add main::face::add a::before dead::beef std::mac::x",
		"00:1a:2b:3c:4d:5e 00:11:22:33:44:55:66:77 at f (https://a.example/b.js:10:20)":          "00:1a:2b:3c:4d:5e 00:11:22:33:44:55:66:77 at f (https://a.example/b.js:10:20)",
		"a=fmtp:96 profile-level-id=42e01f;packetization-mode=1 12:34:56":                        "a=fmtp:96 profile-level-id=42e01f;packetization-mode=1 12:34:56",
		"a=candidate:1 1 udp 1 5f3c-4c1e.local 9 typ host":                                       "a=candidate:1 1 udp 1 5f3c-4c1e.local 9 typ host",
		"a=fingerprint:sha-256 " + strings.TrimSuffix(strings.Repeat("AB:20:EF:01:", 8), ":"):    "a=fingerprint:sha-256 " + strings.TrimSuffix(strings.Repeat("AB:20:EF:01:", 8), ":"),
		"": "", "日本": "日本", ":": ":", "....": "....", "::::::": "::::::",
	} {
		require.Equal(t, want, p.Text(text))
		require.Equal(t, want, p.Text(want), "twice")
		require.Equal(t, text, policy(t, Keep).Text(text))
	}
}

// spec: PRIV-01
func TestDroppedText(t *testing.T) {
	p := policy(t, Drop, "203.0.113.64/26")
	for text, want := range map[string]string{
		"a=candidate:1 1 udp 21 192.0.2.7 35 typ srflx raddr fe80::1%eth0": "a=candidate:1 1 udp 21 0.0.0.0 35 typ srflx raddr ::",
		"c=IN IP6 ::ffff:192.0.2.7 ::ffff:192.0.2.7":                       "c=IN IP6 :: 0.0.0.0",
		"203.0.113.77 127.0.0.1 ::1 192.0.2.7.443":                         "203.0.113.77 127.0.0.1 ::1 0.0.0.0",
		"udp 1 0b7e4d2a-7d0e-4f35-8a8a-1f2e3d4c5b6a.local 9":               "udp 1 x.local 9",
		"http://Annas-MacBook.LOCAL/ at annas-mac.local.":                  "http://x.local/ at x.local.",
		"this.local(1) config.local.js a.locals the.local-part":            "this.local(1) config.local.js a.locals the.local-part",
		`{"a":"\nannas.local \u00e9lan.local"}`:                            `{"a":"\nx.local \u00e9x.local"}`,
		`{"a":"\u2001:db8:1:2::7"}`:                                        `{"a":"\u2001:::"}`,
		"the text ends in 2001:db8:1:2:3:4":                                "the text ends in ::",
	} {
		require.Equal(t, want, p.Text(text))
		require.Equal(t, want, p.Text(want), "twice")
	}
}

// spec: PRIV-01
func TestAgent(t *testing.T) {
	const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/101.1.2.3 Safari/537.36 OPR/106.0.0.0"
	for _, mode := range []Mode{Truncate, Drop} {
		require.Equal(t, agent, policy(t, mode).Agent(agent))
		require.Equal(t, "10.4.3.2", policy(t, mode).Version("10.4.3.2"))
	}
	p := policy(t, Truncate)
	require.Equal(t, "App/1.2.3.4 (192.0.2.0; 2001:db8:1::)", p.Agent("App/1.2.3.4 (192.0.2.7; 2001:db8:1:2::7)"))
	require.Equal(t, "App/1.2.3.0", p.Text("App/1.2.3.4"))
	require.Equal(t, "1.2.3 of 192.0.2.0", p.Version("1.2.3 of 192.0.2.7"))
}

// spec: INIT-04, PRIV-01
func TestMembers(t *testing.T) {
	p := policy(t, Truncate)
	for data, want := range map[string]string{
		`{"localAddress":"192.0.2.7","localAddresses":["192.0.2.7","192.0.2.9","x.local",7,"2001:db8:1:2::7"],"setupMs":1.50}`: `{"localAddress":"192.0.2.0","localAddresses":["192.0.2.0","2001:db8:1::"],"setupMs":1.50}`,
		`{"localAddress":"x.local","localAddresses":[],"a":1}`:                                                                 `{"a":1}`,
		`{"relatedADDRESS":"192.0.2.7","Local\u0041ddress":"192.0.2.7"}`:                                                       `{"LocalAddress":"192.0.2.0","relatedADDRESS":"192.0.2.0"}`,
		`{"addresses":"fe80::1%lo","deep":[{"address":{"ip":"192.0.2.7"}},"x"]}`:                                               `{"addresses":"fe80::","deep":[{},"x"]}`,
		`{"addresses":["192.0.2.7"],"addresses":["198.51.100.7"]}`:                                                             `{"addresses":["198.51.100.0"]}`,
		`{"address":"192.0.2.7","a":"<&>"}`:                                                                                    `{"a":"<&>","address":"192.0.2.0"}`,
		`{"b":1,"a":{"c":"at 192.0.2.7"}}`:                                                                                     `{"b":1,"a":{"c":"at 192.0.2.0"}}`,
		`{"bssid":"AA:BB:CC:dd:ee:ff","macAddress":"AA:BB:CC:dd:ee:ff","BSSID":"none"}`:                                        `{"bssid":"aa:bb:cc:00:00:00"}`,
		`{}`: `{}`, `[]`: `{}`, `null`: `{}`, `{`: `{}`,
	} {
		require.Equal(t, want, p.Members([]byte(data)), data)
		require.Equal(t, data, policy(t, Keep).Members([]byte(data)))
	}
	require.JSONEq(t, `{"rssi":-60}`, policy(t, Drop).Members([]byte(`{"rssi":-60,"bssid":"AA:BB:CC:dd:ee:ff","addresses":["192.0.2.7"]}`)))
}

// spec: PRIV-01
func TestExcept(t *testing.T) {
	p := policy(t, Truncate)
	for data, want := range map[string]string{
		`{"newUserID":"192.0.2.7","usage":"at 192.0.2.7"}`: `{"newUserID":"192.0.2.7","usage":"at 192.0.2.0"}`,
		`{ "newUserID" : "ann"}`:                           `{ "newUserID" : "ann"}`,
	} {
		require.Equal(t, want, p.Except([]byte(data), "newUserID", "userID"))
	}
}
