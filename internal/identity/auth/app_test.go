package auth

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: AUTH-03
func TestOriginAllowed(t *testing.T) {
	f := func(want bool, origin string, entries ...string) {
		t.Helper()
		require.Equal(t, want, App{Origins: entries}.OriginAllowed(origin))
	}
	f(true, "https://anywhere.example")
	f(true, "")
	f(true, "https://a.example", "https://b.example", "https://a.example")
	f(false, "https://a.example", "https://b.example")
	f(false, "", "https://b.example")
	f(false, "http://a.example", "https://a.example")
	f(false, "https://a.example:8443", "https://a.example")
	f(true, "https://a.example:8443", "https://a.example:8443")
	f(false, "https://a.example.evil.org", "https://a.example")
	f(true, "https://a.example.org", "https://*.example.org")
	f(true, "https://a.b.example.org", "https://*.example.org")
	f(false, "https://example.org", "https://*.example.org")
	f(false, "https://.example.org", "https://*.example.org")
	f(false, "https://evilexample.org", "https://*.example.org")
	f(false, "https://a.example.org:8443", "https://*.example.org")
	f(true, "https://a.example.org:8443", "https://*.example.org:8443")
	f(false, "https://evil.org:1.example.org", "https://*.example.org")
	f(false, "https://evil.org/.example.org", "https://*.example.org")
	f(false, "http://a.example.org", "https://*.example.org")
}

func TestCheckOrigin(t *testing.T) {
	for _, good := range []string{
		"https://a.example", "http://localhost:8483", "https://*.example.org", "https://*.example.org:8443",
		"http://127.0.0.1:1", "http://[::1]:8483", "capacitor://localhost",
	} {
		require.NoError(t, CheckOrigin(good, false), good)
	}
	for _, bad := range []string{
		"", "*", "null", "a.example", "https://", "https://a.example/", "https://a.example/path", "https://a.example?q",
		"https://u@a.example", "HTTPS://a.example", "https://A.example", "https://a.example:443", "http://a.example:80",
		"https://a.*.example", "https://*", "https://*a.example", "https://a.example:", "https://*.*.example", "https://a b.example",
		"https://a.example#f", "mailto:a@b", "https://*.公司.cn", "https://*.192.0.2.1", "https://*.[::1]:1",
		"https://*.2.1", "https://*.1", "https://*.1:8443", "https://*.1.",
	} {
		require.Error(t, CheckOrigin(bad, true), bad)
	}
}

// Nobody opens an app to the pages of strangers by a wildcard below a public suffix, whatever stands around the name.
//
// spec: AUTH-03
func TestWildcardsBelowPublicSuffixes(t *testing.T) {
	around := []string{"https://*.%s", "http://*.%s", "https://*.%s:8443", "https://*.%s.", "https://*.%s.:8443", "wss://*.%s"}
	for _, name := range []string{"com", "uk", "co.uk", "de", "xn--p1ai", "foo.ck", "gov.uk", "k12.ca.us", "ck", "np", "kawasaki.jp", "sch.uk"} {
		for _, form := range around {
			for _, private := range []bool{false, true} {
				require.ErrorContains(t, CheckOrigin(fmt.Sprintf(form, name), private), "public suffix "+name, form)
			}
		}
	}
	for _, name := range []string{"github.io", "blogspot.com", "s3.amazonaws.com", "vercel.app", "pages.dev", "compute.amazonaws.com"} {
		for _, form := range around {
			require.ErrorContains(t, CheckOrigin(fmt.Sprintf(form, name), false), "public suffix "+name+" unless private_suffixes", form)
			require.NoError(t, CheckOrigin(fmt.Sprintf(form, name), true), form)
		}
	}
	for _, name := range []string{"example.com", "example.co.uk", "me.github.io", "corp", "internal", "localhost", "shop.lan", "www.ck", "city.kawasaki.jp", "8x8.com", "1und1"} {
		for _, form := range around {
			require.NoError(t, CheckOrigin(fmt.Sprintf(form, name), false), form)
		}
	}
	require.NoError(t, CheckOrigin("https://github.io", false), "one page")
}
