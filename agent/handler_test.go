package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
)

func newKey(tb testing.TB) *agent.Key {
	tb.Helper()
	key, err := agent.GenerateKey()
	require.NoError(tb, err)
	return key
}

// alice is logged in with the cookie that says so.
func alice(r *http.Request) (agent.User, error) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return agent.User{}, agent.ErrNotLoggedIn
	}
	switch cookie.Value {
	case "alice":
		return agent.User{Name: "alice", Alias: "user 7"}, nil
	case "nobody":
		return agent.User{}, nil
	case "long":
		return agent.User{Name: strings.Repeat("é", 129)}, nil
	case "bytes":
		return agent.User{Name: "\xff"}, nil
	default:
		return agent.User{}, errors.New("the session store burns")
	}
}

func options(tb testing.TB, key *agent.Key) agent.Options {
	tb.Helper()
	return agent.Options{AppID: "123", Key: func() *agent.Key { return key }, Who: alice}
}

func handler(tb testing.TB, o agent.Options) *agent.Handler {
	tb.Helper()
	h, err := agent.NewHandler(o)
	require.NoError(tb, err)
	return h
}

// ask posts with a cookie and returns the answer; more are headers by twos.
func ask(h http.Handler, cookie, body string, more ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/token", strings.NewReader(body))
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: "session", Value: cookie})
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func token(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var body map[string]string
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	require.Len(t, body, 1)
	return body["token"]
}

// TestToken: header and claims are those of interface document 5.2, no more and no less.
//
// spec: AUTH-04, AUTH-05, AUTH-08
func TestToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		w := ask(handler(t, options(t, key)), "alice", `{"userID":"alice","more":1}`)
		now := time.Now()
		read, claims := asCollector(t, token(t, w), key.Public(), now)
		require.Equal(t, map[string]any{"alg": "ES256", "typ": "JWT", "kid": key.ID()}, read.Header)
		require.Regexp(t, `^[A-Z2-7]{26}$`, claims["jti"])
		delete(claims, "jti")
		require.Equal(t, jwt.MapClaims{
			"appID": "123", "userID": "alice", "keyID": key.ID(), "iat": float64(now.Unix()),
			"exp": float64(now.Add(8 * time.Minute).Unix()), "nbf": float64(now.Add(-8 * time.Minute).Unix()),
		}, claims)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
	})
}

// spec: AUTH-04
func TestTokensEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		o := options(t, key)
		o.Lifetime, o.Backdate = 5*time.Minute, 6*time.Minute
		made := token(t, ask(handler(t, o), "alice", ""))
		at := func(offset time.Duration) error {
			_, err := jwt.NewParser(jwt.WithTimeFunc(func() time.Time { return time.Now().Add(offset) })).
				Parse(made, func(*jwt.Token) (any, error) { return key.Public(), nil })
			return err
		}
		require.NoError(t, at(-6*time.Minute))
		require.ErrorIs(t, at(-6*time.Minute-time.Second), jwt.ErrTokenNotValidYet)
		require.NoError(t, at(5*time.Minute-time.Second))
		require.ErrorIs(t, at(5*time.Minute), jwt.ErrTokenExpired)
	})
}

func TestEachTokenHasItsOwnID(t *testing.T) {
	key := newKey(t)
	h, seen := handler(t, options(t, key)), make(map[any]bool)
	for range 100 {
		_, claims := asCollector(t, token(t, ask(h, "alice", "")), key.Public(), time.Now())
		require.False(t, seen[claims["jti"]])
		seen[claims["jti"]] = true
	}
}

// spec: AUTH-05
func TestHS256WhereTheKeyIsOne(t *testing.T) {
	secret := []byte(strings.Repeat("0123456789abcdef", 2))
	key, err := agent.NewSecretKey("hs-1", secret)
	require.NoError(t, err)
	read, err := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithStrictDecoding()).
		Parse(token(t, ask(handler(t, options(t, key)), "alice", "")), func(*jwt.Token) (any, error) { return secret, nil })
	require.NoError(t, err)
	require.Equal(t, "hs-1", read.Claims.(jwt.MapClaims)["keyID"])
}

// TestAPageCannotChooseItsUser: it may say who it takes itself for, and that is all.
//
// spec: AUTH-04, AUTH-08
func TestAPageCannotChooseItsUser(t *testing.T) {
	key := newKey(t)
	h := handler(t, options(t, key))
	require.Equal(t, http.StatusForbidden, ask(h, "alice", `{"userID":"bob"}`).Code)
	for body, want := range map[string]string{"": "alice", "{}": "alice", `{"userID":"alice"}`: "alice", `{"userID":"user 7"}`: "user 7"} {
		_, claims := asCollector(t, token(t, ask(h, "alice", body)), key.Public(), time.Now())
		require.Equal(t, want, claims["userID"], body)
	}
}

// spec: AUTH-08
func TestRefusals(t *testing.T) {
	var last agent.Answer
	o := options(t, newKey(t))
	o.Report = func(a agent.Answer) { last = a }
	h := handler(t, o)
	refused := func(status int, reason agent.Reason, cookie, body string, more ...string) {
		t.Helper()
		w := ask(h, cookie, body, more...)
		require.Equal(t, status, w.Code, w.Body.String())
		require.Equal(t, status, last.Status)
		require.Equal(t, reason, last.Reason)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		var answer map[string]string
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		require.Len(t, answer, 1)
		require.NotEmpty(t, answer["error"])
		require.NotContains(t, answer["error"], "burns")
	}
	refused(403, agent.ReasonNotLoggedIn, "", "")
	refused(403, agent.ReasonOtherUser, "alice", `{"userID":"bob"}`)
	refused(500, agent.ReasonWho, "mallory", "")
	require.ErrorContains(t, last.Err, "burns")
	refused(500, agent.ReasonUserID, "nobody", "")
	refused(500, agent.ReasonUserID, "long", "")
	refused(500, agent.ReasonUserID, "bytes", "")
	for _, body := range []string{"x", "[]", "null", `"a"`, `{"userID":7}`, `{"userID":""}`, `{"userID":null}`, `{} {}`, `{"userID":"` + strings.Repeat("x", 257) + `"}`} {
		refused(400, agent.ReasonBody, "alice", body)
	}
	refused(415, agent.ReasonType, "alice", "{}", "Content-Type", "text/plain")
	refused(413, agent.ReasonTooLarge, "alice", `{"more":"`+strings.Repeat("x", agent.MaxBodyBytes)+`"}`)
	none := options(t, nil)
	none.Report = o.Report
	h = handler(t, none)
	refused(500, agent.ReasonSign, "alice", "")
}

func TestMethods(t *testing.T) {
	for _, origins := range [][]string{nil, {"https://app.example.org"}} {
		o := options(t, newKey(t))
		o.Origins = origins
		h := handler(t, o)
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "/token", http.NoBody))
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
			require.Contains(t, w.Header().Get("Allow"), "POST", method)
			require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"), method)
		}
	}
}

// TestOrigins: with a list, only its pages get tokens, and may read the answer, good or bad.
//
// spec: AUTH-08
func TestOrigins(t *testing.T) {
	o := options(t, newKey(t))
	o.Origins = []string{"https://app.example.org", "http://localhost:3000"}
	h := handler(t, o)
	for _, origin := range o.Origins {
		for cookie, status := range map[string]int{"alice": 200, "": 403, "mallory": 500} {
			w := ask(h, cookie, "", "Origin", origin)
			require.Equal(t, status, w.Code)
			require.Equal(t, origin, w.Header().Get("Access-Control-Allow-Origin"))
			require.Equal(t, "true", w.Header().Get("Access-Control-Allow-Credentials"))
			require.Equal(t, "Origin", w.Header().Get("Vary"))
		}
	}
	for _, origin := range []string{"", "null", "https://evil.example", "https://app.example.org.evil.example", "http://app.example.org", "https://app.example.org:444"} {
		w := ask(h, "alice", "", "Origin", origin)
		require.Equal(t, http.StatusForbidden, w.Code, origin)
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"), origin)
	}
	require.Equal(t, http.StatusForbidden, ask(h, "alice", "").Code, "no Origin, no page")
	r := httptest.NewRequest(http.MethodPost, "/token", http.NoBody)
	r.AddCookie(&http.Cookie{Name: "session", Value: "alice"})
	r.Header["Origin"] = []string{"https://app.example.org", "https://evil.example"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusForbidden, w.Code, "two origins")
}

func TestPreflight(t *testing.T) {
	o := options(t, newKey(t))
	o.Origins = []string{"https://app.example.org"}
	r := httptest.NewRequest(http.MethodOptions, "/token", http.NoBody)
	r.Header.Set("Origin", "https://app.example.org")
	w := httptest.NewRecorder()
	handler(t, o).ServeHTTP(w, r)
	require.Equal(t, http.StatusNoContent, w.Code)
	require.Equal(t, "POST", w.Header().Get("Access-Control-Allow-Methods"))
	require.Contains(t, w.Header().Get("Access-Control-Allow-Headers"), "Authorization")
	require.Equal(t, "https://app.example.org", w.Header().Get("Access-Control-Allow-Origin"))
}

// TestNoMoreAtOnceThanAllowed: the one too many is asked to come again, and a place is free
// again afterwards.
func TestNoMoreAtOnceThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		o := options(t, newKey(t))
		o.InFlight = 1
		o.Who = func(r *http.Request) (agent.User, error) { <-release; return alice(r) }
		h := handler(t, o)
		first := make(chan int)
		go func() { first <- ask(h, "alice", "").Code }()
		synctest.Wait()
		w := ask(h, "alice", "")
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		close(release)
		require.Equal(t, http.StatusOK, <-first)
		require.Equal(t, http.StatusOK, ask(h, "alice", "").Code)
	})
}

func TestReportNamesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last agent.Answer
		key := newKey(t)
		o := options(t, key)
		o.Report = func(a agent.Answer) { last = a }
		o.Who = func(r *http.Request) (agent.User, error) { <-time.After(time.Second); return alice(r) }
		made := token(t, ask(handler(t, o), "alice", ""))
		_, claims := asCollector(t, made, key.Public(), time.Now())
		require.Equal(t, claims["jti"], last.TokenID)
		require.Equal(t, key.ID(), last.KeyID)
		require.Equal(t, time.Second, last.WhoTook)
		require.Equal(t, time.Second, last.Took)
		require.NotContains(t, fmt.Sprintf("%+v", last), "alice")
	})
}

func TestOptionsThatCannotBe(t *testing.T) {
	refused := func(want string, change func(*agent.Options)) {
		t.Helper()
		o := options(t, newKey(t))
		change(&o)
		_, err := agent.NewHandler(o)
		require.ErrorContains(t, err, want)
	}
	refused("AppID", func(o *agent.Options) { o.AppID = "" })
	refused("AppID", func(o *agent.Options) { o.AppID = strings.Repeat("x", 257) })
	refused("Key and Who", func(o *agent.Options) { o.Key = nil })
	refused("Key and Who", func(o *agent.Options) { o.Who = nil })
	refused("lifetime", func(o *agent.Options) { o.Lifetime = 4 * time.Minute })
	refused("lifetime", func(o *agent.Options) { o.Lifetime = 11 * time.Minute })
	refused("backdated", func(o *agent.Options) { o.Backdate = -1 })
	refused("backdated", func(o *agent.Options) { o.Backdate = time.Hour })
	refused("in flight", func(o *agent.Options) { o.InFlight = -1 })
	for _, origin := range []string{"", "*", "app.example.org", "https://app.example.org/", "https://*.example.org", "https://App.example.org", "https://app.example.org:443", "http://a:80"} {
		refused("origin", func(o *agent.Options) { o.Origins = []string{origin} })
	}
}

// FuzzBody: whatever a page sends, the user is the one who is logged in.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"userID":"alice"}`, `{"userID":"bob"}`, `{"userid":"bob"}`, `{"userID":{}}`, "[", "\x00"} {
		f.Add(seed, "application/json")
	}
	key := newKey(f)
	h := handler(f, options(f, key))
	f.Fuzz(func(t *testing.T, body, contentType string) {
		r := httptest.NewRequest(http.MethodPost, "/token", strings.NewReader(body))
		r.Header["Content-Type"] = []string{contentType}
		r.AddCookie(&http.Cookie{Name: "session", Value: "alice"})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusOK {
			_, claims := asCollector(t, token(t, w), key.Public(), time.Now())
			require.Contains(t, []any{"alice", "user 7"}, claims["userID"])
			return
		}
		require.Contains(t, []int{400, 403, 413, 415}, w.Code)
		require.True(t, json.Valid(w.Body.Bytes()))
	})
}
