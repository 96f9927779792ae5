package address

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// policy returns a policy that the test needs.
func policy(tb testing.TB, mode Mode, kept ...string) *Policy {
	tb.Helper()
	p, err := New(mode, kept)
	require.NoError(tb, err)
	return p
}

// spec: INIT-04, PRIV-01
func TestCut(t *testing.T) {
	p := policy(t, Truncate, "203.0.113.64/26", "2001:db8:7::/48", "198.51.100.7")
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
		"::":                               "::",
		"::ffff:192.0.2.7":                 "192.0.2.0",
		"::ffff:c000:207":                  "192.0.2.0",
		"::ffff:192.0.2.7%eth0":            "192.0.2.0",
		"::ffff:127.0.0.1":                 "127.0.0.0",
		"2002:c000:207::1":                 "2002:c000:200::",
		"64:ff9b::192.0.2.7":               "64:ff9b::",
		"203.0.113.65":                     "203.0.113.65",
		"::ffff:203.0.113.65":              "203.0.113.65",
		"203.0.113.5":                      "203.0.113.0",
		"198.51.100.7":                     "198.51.100.7",
		"2001:db8:7:1::9":                  "2001:db8:7:1::9",
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
		got, ok := p.Cut(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want != "", ok, text)
	}
	_, ok := policy(t, Drop).Cut("192.0.2.7")
	require.False(t, ok)
	got, ok := policy(t, Keep).Cut("fe80::1%eth0")
	require.True(t, ok)
	require.Equal(t, "fe80::1%eth0", got)
}

// spec: PRIV-01
func TestNew(t *testing.T) {
	for _, one := range []struct {
		mode Mode
		kept string
		want string
	}{
		{"", "::1", `addresses: must be truncate, drop or keep (got "")`},
		{"Truncate", "::1", `addresses: must be truncate, drop or keep (got "Truncate")`},
		{Drop, "turn.example.org", `keep_networks[0]: must be an address or a network like 198.51.100.0/24; host names are never cut (got "turn.example.org")`},
		{Drop, "192.0.2.7/33", `keep_networks[0]: must be an address or a network like 198.51.100.0/24; host names are never cut (got "192.0.2.7/33")`},
		{Truncate, "0.0.0.0/0", `keep_networks[0]: must not be all addresses: set addresses to keep (got "0.0.0.0/0")`},
		{Truncate, "::/0", `keep_networks[0]: must not be all addresses: set addresses to keep (got "::/0")`},
	} {
		_, err := New(one.mode, []string{one.kept})
		require.EqualError(t, err, one.want)
	}
}
