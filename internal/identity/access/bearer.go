package access

import (
	"net/http"
	"strings"
	"time"
)

// Refusal is the answer to a request whose API token is refused.
type Refusal struct {
	Status int
	Text   string
	Wait   time.Duration // until another request may be sent; 0: none
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// BearerToken returns the text of an API token that a request has in its header Authorization; empty
// without one. Other schemes and tokens are of a proxy or an authenticator in front. A request with a
// token and another Authorization or a login has an ambiguous sender: BearerToken returns a Refusal.
func BearerToken(r *http.Request) (string, error) {
	text := ""
	for _, value := range r.Header.Values("Authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		if rest = strings.TrimSpace(rest); strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(rest, APITokenPrefix) {
			text = rest
		}
	}
	switch {
	case text == "":
		return "", nil
	case len(r.Header.Values("Authorization")) > 1:
		return "", &Refusal{Status: http.StatusBadRequest, Text: "The header Authorization must be sent once."}
	case len(r.CookiesNamed(LoginCookie)) > 0, len(r.CookiesNamed("__Host-"+LoginCookie)) > 0:
		return "", &Refusal{Status: http.StatusBadRequest, Text: "Send a token or the cookie of a login, not both."}
	}
	return text, nil
}

// TakesTokens reports whether a route is for holders of API tokens: the read API, not its pages.
func TakesTokens(pattern string) bool {
	need, ok := NeedOf(pattern)
	_, path, _ := strings.Cut(pattern, " ")
	return ok && need == Calls && (strings.HasPrefix(path, "/api/") || path == "/mcp")
}
