package access

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	a, b := NewToken(), NewToken()
	require.NotEqual(t, a, b)
	require.Len(t, a, 43)
	require.Len(t, Digest(a), 32)
	require.NotEqual(t, Digest(a), Digest(b))
	for _, bad := range []string{"", "x", a[1:], a + "a", a + "=", "*" + a[1:]} {
		require.Nil(t, Digest(bad), bad)
	}
	require.Len(t, LoginName(Digest(a)), 12)
	require.True(t, CheckForm(a, FormToken(a)))
	for _, bad := range []string{"", a, FormToken(b), FormToken(a) + "x", FormToken("")} {
		require.False(t, CheckForm(a, bad), bad)
	}
	require.False(t, CheckForm("", FormToken("")), "no cookie")
}

// spec: DASH-03
func TestCookies(t *testing.T) {
	f := func(host string, overTLS bool, want string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = host
		if overTLS {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		WriteCookie(w, r, LoginCookie, "v")
		require.Equal(t, want, w.Header().Get("Set-Cookie"))
	}
	secure := "__Host-qos-login=v; Path=/; HttpOnly; Secure; SameSite=Lax"
	f("dash.example.org", true, secure)
	f("localhost:8481", true, secure)
	f("dash.example.org", false, secure) // a proxy ends TLS
	for _, host := range []string{"localhost:8481", "127.0.0.1:8481", "[::1]:8481", "localhost"} {
		f(host, false, "qos-login=v; Path=/; HttpOnly; SameSite=Lax")
	}
}

// Behind a proxy that ends TLS no name that it passes on as Host makes a cookie plain, and no plain cookie counts.
//
// spec: DASH-03
func TestCookiesBehindATLSProxy(t *testing.T) {
	for _, host := range []string{"localhost:8481", "127.0.0.1", "[::1]:8481", "localhost.", "upstream", "dash.example.org", ""} {
		r := httptest.NewRequestWithContext(BehindTLSProxy(t.Context()), http.MethodGet, "/", nil)
		r.Host = host
		r.Header.Set("Cookie", "qos-login=plain")
		require.Empty(t, ReadCookie(r, LoginCookie), host)
		for name, write := range map[string]func(http.ResponseWriter){
			LoginCookie:   func(w http.ResponseWriter) { WriteCookie(w, r, LoginCookie, "v") },
			DeviceCookie:  func(w http.ResponseWriter) { WriteDevice(w, r, "v") },
			attemptPrefix: func(w http.ResponseWriter) { WriteAttempt(w, r, NewAttempt("/")) },
		} {
			w := httptest.NewRecorder()
			write(w)
			c, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
			require.NoError(t, err)
			require.True(t, c.Secure && strings.HasPrefix(c.Name, "__Host-"+name), "%s: %s", host, c)
		}
	}
}

// A cookie under two values is one that somebody planted: neither counts.
func TestPlantedCookies(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://dash.example.org/", nil)
	r.Header.Set("Cookie", "qos-login=plain; __Host-qos-login=right")
	require.Equal(t, "right", ReadCookie(r, LoginCookie), "the plain name does not count off loopback")
	r.Header.Set("Cookie", "__Host-qos-login=right; __Host-qos-login=other")
	require.Empty(t, ReadCookie(r, LoginCookie))
	r.Header.Del("Cookie")
	require.Empty(t, ReadCookie(r, LoginCookie))
	w := httptest.NewRecorder()
	WriteCookie(w, r, LoginCookie, "")
	require.Contains(t, w.Header().Get("Set-Cookie"), "Max-Age=0")
}
