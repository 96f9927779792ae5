package access

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// Bounds of attempts. A browser sends its cookies with each request, so they are small.
const (
	// AttemptTime is how long a sign-in at an identity provider may take.
	AttemptTime = 10 * time.Minute
	// maxAttempts is the number of attempts of a browser, in several tabs.
	maxAttempts = 4
	// maxAttemptTo is the longest path that an attempt leads to, in bytes. A longer one is the start.
	maxAttemptTo = 1000
)

// Attempt is a sign-in at an identity provider that a browser has begun. The browser has all of it in a
// cookie, so any collector can finish it. State, nonce and verifier are derived from one random token.
type Attempt struct {
	token string
	// To is the path that the visitor wanted.
	To string
}

// NewAttempt returns an attempt that leads to a path.
func NewAttempt(to string) Attempt {
	if len(to) > maxAttemptTo {
		to = "/"
	}
	return Attempt{token: NewToken(), To: to}
}

// State is the parameter that the provider returns with its answer.
func (a Attempt) State() string { return derive("state", a.token) }

// Nonce is the claim that the provider writes into the ID token.
func (a Attempt) Nonce() string { return derive("nonce", a.token) }

// Verifier is the code verifier of PKCE (RFC 7636).
func (a Attempt) Verifier() string { return derive("verifier", a.token) }

// attemptCookie returns the name of the cookie of an attempt; empty for a text that is no state.
func attemptCookie(state string) string {
	if Digest(state) == nil {
		return ""
	}
	return attemptPrefix + state[:8]
}

const attemptPrefix = "qos-attempt-"

// WriteAttempt gives an attempt to the browser. Beyond some attempts it deletes the earlier ones.
func WriteAttempt(w http.ResponseWriter, r *http.Request, a Attempt) {
	prefix := cookieName(r, attemptPrefix)
	var earlier []string
	for _, c := range r.Cookies() {
		if rest, ok := strings.CutPrefix(c.Name, prefix); ok {
			earlier = append(earlier, attemptPrefix+rest)
		}
	}
	if len(earlier) >= maxAttempts {
		for _, name := range earlier {
			WriteCookie(w, r, name, "")
		}
	}
	value := a.token + "." + base64.RawURLEncoding.EncodeToString([]byte(a.To))
	writeCookie(w, r, attemptCookie(a.State()), value, int(AttemptTime/time.Second))
}

// TakeAttempt returns the browser's attempt of a state, and deletes its cookie. It is false where the
// browser has none: another browser began it, or too long ago, or nobody did.
func TakeAttempt(w http.ResponseWriter, r *http.Request, state string) (Attempt, bool) {
	name := attemptCookie(state)
	if name == "" {
		return Attempt{}, false
	}
	token, to, ok := strings.Cut(ReadCookie(r, name), ".")
	path, err := base64.RawURLEncoding.DecodeString(to)
	a := Attempt{token: token, To: string(path)}
	if !ok || err != nil || Digest(token) == nil || !same(a.State(), state) {
		return Attempt{}, false
	}
	WriteCookie(w, r, name, "")
	return a, true
}
