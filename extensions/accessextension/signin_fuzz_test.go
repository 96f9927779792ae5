package accessextension

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
)

// stranger sends requests of a browser that has a form and an attempt at the provider, and no password, link or code.
type stranger struct {
	*running
	cookie  string
	attempt access.Attempt
}

// fuzzedRoutes are those by which a visitor can sign in, and one that has an answer for users only.
var fuzzedRoutes = []string{
	"POST /signin", "POST /signin/link", "GET " + callbackPath, "GET /signin/provider", "GET /signin", "GET /signin/link", "GET /api/session",
}

// newStranger starts an extension with a user, a link and a provider. All secrets are random, and no seed has them.
func newStranger(f *testing.F) (s *stranger, password string) {
	f.Helper()
	issuer := refusingProvider(f)
	r := startOn(f, newStore(f), withOIDC, func(c *Config) {
		c.SignInURL, c.OIDC.Get().Issuer = "http://localhost:8481/", issuer
	})
	password = access.NewPassword()
	hash, err := argon2id.CreateHash(password, &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	require.NoError(f, err)
	r.user("ada", func(u *access.User) { u.Password = hash })
	return &stranger{r, access.NewToken(), access.NewAttempt("/")}, password
}

// refusingProvider returns the issuer of a provider that has given out no code.
func refusingProvider(f *testing.F) string {
	f.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	f.Cleanup(server.Close)
	serve := func(path string, status int, body map[string]any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(body)
		})
	}
	serve("/.well-known/openid-configuration", http.StatusOK, map[string]any{
		"issuer": server.URL, "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token",
		"jwks_uri": server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"},
	})
	serve("/token", http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	return server.URL
}

// send sends a request to a route. With own it has the tokens that the pages gave to the browser.
func (s *stranger) send(route string, own bool, query, form, cookies string) *http.Response {
	method, path, _ := strings.Cut(route, " ")
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form))
	if own {
		w := httptest.NewRecorder()
		access.WriteCookie(w, r, access.FormCookie, s.cookie)
		access.WriteAttempt(w, r, s.attempt)
		for _, c := range w.Result().Cookies() {
			r.AddCookie(c)
		}
		query = url.Values{"state": {s.attempt.State()}, "start": {access.StartToken(s.cookie)}}.Encode() + "&" + query
		form = "form=" + access.FormToken(s.cookie) + "&" + form
	}
	sent := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form))
	sent.URL.RawQuery, sent.Header = query, r.Header
	sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sent.Header.Add("Cookie", cookies)
	s.lockout = access.NewLockout(t0) // an earlier request does not throttle this one
	w := httptest.NewRecorder()
	s.ServeHTTP(w, sent)
	return w.Result()
}

// signedIn reports whether an answer has a login.
func signedIn(answer *http.Response) bool {
	for _, c := range answer.Cookies() {
		if c.Name == access.LoginCookie && c.Value != "" {
			return true
		}
	}
	return false
}

// FuzzSignIn: no form, link, answer of the provider or cookie signs in without a valid password, token or code, and none
// makes the extension panic.
//
// spec: DASH-03
func FuzzSignIn(f *testing.F) {
	s, password := newStranger(f)
	_, used, _ := strings.Cut(strings.TrimSpace(s.printed.String()), "/signin/link?token=")
	require.True(f, signedIn(s.send("POST /signin", true, "", "user=ada&password="+password, "")))
	require.True(f, signedIn(s.send("POST /signin/link", true, "", "token="+used, "")))
	require.NoError(f, s.printLink(f.Context())) // there is a valid link
	for i := range fuzzedRoutes {
		f.Add(uint8(i), true, "code=c&to=%2Fconference", "user=ada&password=correct+horse&to=%2F", "")
		f.Add(uint8(i), true, "iss=x&code=c&error=access_denied", "token="+used, access.LoginCookie+"="+access.NewToken())
		f.Add(uint8(i), false, "state="+s.attempt.State()+"&code=c", "form="+s.cookie+"&user=admin&password=", access.FormCookie+"="+s.cookie)
	}
	f.Fuzz(func(t *testing.T, route uint8, own bool, query, form, cookies string) {
		path := fuzzedRoutes[int(route)%len(fuzzedRoutes)]
		answer := s.send(path, own, query, form, cookies)
		require.False(t, signedIn(answer))
		if path == "GET /api/session" {
			require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
		}
		require.Contains(t, []int{200, 303, 401, 403, 404, 502, 503}, answer.StatusCode)
	})
}
