package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// visit is a request of a browser with the cookies that answers have set.
type visit struct {
	jar  map[string]*http.Cookie
	host string
}

func (v *visit) request() (*httptest.ResponseRecorder, *http.Request) {
	r := httptest.NewRequest(http.MethodGet, "http://"+v.host+"/", http.NoBody)
	for _, c := range v.jar {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return httptest.NewRecorder(), r
}

func (v *visit) keep(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if delete(v.jar, c.Name); c.MaxAge >= 0 {
			v.jar[c.Name] = c
		}
	}
}

func (v *visit) begin(to string) Attempt {
	a := NewAttempt(to)
	w, r := v.request()
	WriteAttempt(w, r, a)
	v.keep(w)
	return a
}

func (v *visit) take(state string) (Attempt, bool) {
	w, r := v.request()
	a, ok := TakeAttempt(w, r, state)
	v.keep(w)
	return a, ok
}

// The browser that began an attempt finishes it once, and no other does.
//
// spec: DASH-03
func TestAttempts(t *testing.T) {
	for _, host := range []string{"localhost:8481", "dash.example.org"} {
		ada, eve := &visit{map[string]*http.Cookie{}, host}, &visit{map[string]*http.Cookie{}, host}
		one, two := ada.begin("/conference?id=a&at=1"), ada.begin("/search")
		eve.begin("/")
		for _, c := range ada.jar {
			require.True(t, c.HttpOnly)
			require.Equal(t, http.SameSiteLaxMode, c.SameSite)
			require.Equal(t, 600, c.MaxAge)
			require.Equal(t, host == "dash.example.org", c.Secure)
			require.Equal(t, c.Secure, strings.HasPrefix(c.Name, "__Host-"))
		}
		_, ok := eve.take(one.State())
		require.False(t, ok, "an answer that is planted in another browser")
		for _, bad := range []string{"", "x", one.Nonce(), one.Verifier(), one.token, one.State() + "x", one.State()[:42], NewToken(), one.State()[:8] + two.State()[8:]} {
			_, ok = ada.take(bad)
			require.False(t, ok, bad)
		}
		got, ok := ada.take(one.State())
		require.True(t, ok)
		require.Equal(t, one, got)
		_, ok = ada.take(one.State())
		require.False(t, ok, "once")
		got, ok = ada.take(two.State())
		require.True(t, ok, "of another tab")
		require.Equal(t, "/search", got.To)
	}
}

// Each text of an attempt is another one: the state is in URLs, the verifier is a secret.
func TestTextsOfAnAttempt(t *testing.T) {
	a, b := NewAttempt("/"), NewAttempt("/")
	seen := map[string]bool{}
	for _, text := range []string{a.token, a.State(), a.Nonce(), a.Verifier(), b.token, b.State(), b.Nonce(), b.Verifier()} {
		require.Len(t, text, 43)
		require.False(t, seen[text])
		seen[text] = true
	}
	require.Equal(t, "/", NewAttempt("/"+strings.Repeat("x", maxAttemptTo)).To)
}

// What a browser keeps of attempts is bounded.
func TestAttemptsAreBounded(t *testing.T) {
	v := &visit{map[string]*http.Cookie{}, "localhost"}
	for range 20 {
		last := v.begin("/" + strings.Repeat("x", maxAttemptTo-1))
		require.LessOrEqual(t, len(v.jar), maxAttempts)
		size := 0
		for _, c := range v.jar {
			size += len(c.Name) + len(c.Value) + 3
		}
		require.Less(t, size, 8<<10, "a line that nginx accepts")
		if len(v.jar) == 1 {
			got, ok := v.take(last.State())
			require.True(t, ok)
			require.Equal(t, last, got)
			v.begin("/")
		}
	}
}

// A page that another site shows cannot have the link that begins a sign-in.
func TestStartToken(t *testing.T) {
	cookie := NewToken()
	require.True(t, CheckStart(cookie, StartToken(cookie)))
	for _, bad := range []string{"", cookie, FormToken(cookie), StartToken(NewToken())} {
		require.False(t, CheckStart(cookie, bad))
	}
	require.False(t, CheckStart("", StartToken("")))
	require.False(t, CheckForm(cookie, StartToken(cookie)), "it is in a URL: it sends no form")
}
