package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/qosrtc/qos/internal/serve/loopback"
)

// tokenBytes is the length of a random token.
const tokenBytes = 32

// NewToken returns a random token of 256 bits as text.
func NewToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewErrorID returns a short random text by which a line of the log is found.
func NewErrorID() string { return strings.ToLower(rand.Text())[:10] }

// Digest returns the SHA-256 of a token, as the store has it; nil where the text is no token.
func Digest(token string) []byte {
	if b, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(b) != tokenBytes {
		return nil
	}
	sum := sha256.Sum256([]byte("qos login\x00" + token))
	return sum[:]
}

// LoginName returns the short name of a login in logs and audit entries.
func LoginName(digest []byte) string { return hex.EncodeToString(digest[:min(6, len(digest))]) }

// FormToken returns the token of the forms of a page that has a cookie. Another site's page
// cannot read the cookie, so it cannot compute it.
func FormToken(cookie string) string { return derive("form", cookie) }

// CheckForm reports whether a form has the token of a cookie.
func CheckForm(cookie, token string) bool {
	return cookie != "" && same(FormToken(cookie), token)
}

// StartToken returns the token of the link that begins a sign-in at an identity provider. It is in a
// URL, so it is not that of forms.
func StartToken(cookie string) string { return derive("start", cookie) }

// CheckStart reports whether a link has the token of a cookie.
func CheckStart(cookie, token string) bool {
	return cookie != "" && same(StartToken(cookie), token)
}

// derive returns a value for one purpose that only who has a token can compute.
func derive(purpose, token string) string {
	sum := sha256.Sum256([]byte("qos " + purpose + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// same compares in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Names of the cookies, without prefix.
const (
	LoginCookie = "qos-login"
	FormCookie  = "qos-form"
)

type proxiedKey struct{}

// BehindTLSProxy returns a context of a request that came through a proxy that ends TLS, as the configuration says. The
// request does not: the proxy may pass on its own name of this server as Host, which may be that of loopback.
func BehindTLSProxy(ctx context.Context) context.Context {
	return context.WithValue(ctx, proxiedKey{}, true)
}

// plain reports whether a request is over HTTP on this machine, where not all browsers keep Secure
// cookies. Elsewhere a cookie is Secure.
func plain(r *http.Request) bool {
	if r.Context().Value(proxiedKey{}) != nil {
		return false
	}
	return r.TLS == nil && loopback.Hosts(nil).Allow(r.Host)
}

func cookieName(r *http.Request, name string) string {
	if plain(r) {
		return name
	}
	return "__Host-" + name
}

// ReadCookie returns the value of a cookie; empty without it, or where there are several.
func ReadCookie(r *http.Request, name string) string {
	found := r.CookiesNamed(cookieName(r, name))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// WriteCookie sets a cookie until the browser ends; an empty value deletes it.
func WriteCookie(w http.ResponseWriter, r *http.Request, name, value string) {
	maxAge := 0
	if value == "" {
		maxAge = -1
	}
	writeCookie(w, r, name, value, maxAge)
}

// writeCookie sets a cookie for a time in seconds; 0: until the browser ends, negative: deletes it.
func writeCookie(w http.ResponseWriter, r *http.Request, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever browsers keep such cookies
		Name: cookieName(r, name), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: !plain(r), SameSite: http.SameSiteLaxMode,
	})
}
