package who_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/who"
)

// origin is an origin server with TLS, and the login source that asks it.
func origin(t *testing.T, handler http.HandlerFunc, change func(*config.URL)) (*who.URL, *atomic.Int64) {
	t.Helper()
	opened := new(atomic.Int64)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	c := config.Default().URL
	c.Address, c.CAFile = server.URL+"/me", authority(t, server)
	change(&c)
	u, err := who.NewURL(c)
	require.NoError(t, err)
	t.Cleanup(u.Close)
	return u, opened
}

func same(*config.URL) {}

// me is an origin server whose session cookie is the user's name.
func me(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie("session")
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"userID": cookie.Value, "user": map[string]any{"id": 42, "nick": "u7"}})
}

// spec: AUTH-08
func TestURL(t *testing.T) {
	u, opened := origin(t, me, same)
	for range 20 {
		user, err := u.Who(request(t, "Cookie", "session=alice"))
		require.NoError(t, err)
		require.Equal(t, agent.User{Name: "alice"}, user)
		_, err = u.Who(request(t, "Cookie", "other=1"))
		require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	}
	require.Equal(t, int64(1), opened.Load(), "one connection serves all questions")
}

func TestURLMembers(t *testing.T) {
	u, _ := origin(t, me, func(c *config.URL) { c.User, c.Alias = "user.id", "user.nick" })
	user, err := u.Who(request(t, "Cookie", "session=alice"))
	require.NoError(t, err)
	require.Equal(t, agent.User{Name: "42", Alias: "u7"}, user)
}

// TestOnlyHeadersOfTheListArePassedOn: and the question is a GET without the page's body.
//
// spec: AUTH-08
func TestOnlyHeadersOfTheListArePassedOn(t *testing.T) {
	var got *http.Request
	u, _ := origin(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = w.Write([]byte(`{"userID":"alice"}`))
	}, func(c *config.URL) { c.Forward = config.List{"Cookie", "X-Tenant"} })
	_, err := u.Who(request(t, "Cookie", "a=1", "Cookie", "b=2", "X-Tenant", "t", "Authorization", "Bearer x", "X-Forwarded-For", "10.1.1.1", "Origin", "https://app.example.org"))
	require.NoError(t, err)
	require.Equal(t, http.MethodGet, got.Method)
	require.Equal(t, "/me", got.URL.Path)
	require.Equal(t, http.Header{
		"Cookie": {"a=1", "b=2"}, "X-Tenant": {"t"}, "Accept": {"application/json"}, "User-Agent": {"qos-agent/" + agent.Version},
		"Accept-Encoding": {"gzip"},
	}, got.Header)
}

// TestNobodyAsksForNothing: without a header of the list nobody is logged in.
func TestNobodyAsksForNothing(t *testing.T) {
	u, opened := origin(t, me, same)
	_, err := u.Who(request(t, "Authorization", "Bearer x"))
	require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	require.Zero(t, opened.Load())
}

// spec: AUTH-08
func TestAnswersOfTheOriginServer(t *testing.T) {
	answer := func(status int, body string, headers ...string) error {
		t.Helper()
		u, _ := origin(t, func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Add(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}, func(c *config.URL) {
			c.MaxBytes, c.User, c.LoggedOut = 100, "user.id", config.List{"401", "403", "303"}
		})
		user, err := u.Who(request(t, "Cookie", "session=alice"))
		require.Equal(t, err != nil, user == agent.User{})
		return err
	}
	for _, status := range []int{401, 403, 303} {
		require.ErrorIs(t, answer(status, "", "Location", "/login"), agent.ErrNotLoggedIn)
	}
	for _, body := range []string{`{}`, `{"user":null}`, `{"user":{}}`, `{"user":{"id":null}}`, `{"user":{"id":""}}`} {
		require.ErrorIs(t, answer(200, body), agent.ErrNotLoggedIn, body)
	}
	failed := func(err error, want string) {
		t.Helper()
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, agent.ErrNotLoggedIn)
	}
	failed(answer(302, "", "Location", "/elsewhere"), "answered 302; redirects are not followed")
	failed(answer(500, ""), "answered 500")
	failed(answer(404, `{"user":{"id":"alice"}}`), "answered 404")
	failed(answer(200, "<html>log in</html>"), "is no JSON object")
	failed(answer(200, `{"user":{"id":"a"}} {}`), "more after it")
	failed(answer(200, `{"user":"alice"}`), "does not lead through objects")
	for _, body := range []string{
		`{"user":{"id":"alice"},"user":{"id":"bob"}}`, `{"user":{"id":"alice","id":"bob"}}`, `{"user":{"id":"alice","\u0069d":"bob"}}`,
		`{"user":{"id":"alice"},"other":[{"a":1,"a":1}]}`,
	} {
		failed(answer(200, body), "has a member twice")
	}
	for _, value := range []string{"true", "{}", "[]", "4.2", "1e3"} {
		failed(answer(200, `{"user":{"id":`+value+`}}`), "whole number")
	}
	failed(answer(200, `{"user":{"id":"`+strings.Repeat("x", 100)+`"}}`), "too long: over 100 bytes")
	require.NoError(t, answer(200, `{"user":{"id":123456789012345678901234567890}}`))
}

func TestUserInAResponseHeader(t *testing.T) {
	u, _ := origin(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range r.Header.Values("X-Names") {
			w.Header().Add("X-User", name)
		}
		w.WriteHeader(http.StatusNoContent)
	}, func(c *config.URL) { c.UserHeader, c.Forward = "X-User", config.List{"X-Names"} })
	user, err := u.Who(request(t, "X-Names", "alice"))
	require.NoError(t, err)
	require.Equal(t, "alice", user.Name)
	_, err = u.Who(request(t, "X-Names", ""))
	require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	_, err = u.Who(request(t, "X-Names", "alice", "X-Names", "bob"))
	require.ErrorContains(t, err, "more than once")
}

// TestOriginServersThatFail: the error names no URL, for that may hold what is not for logs.
//
// spec: AUTH-08
func TestOriginServersThatFail(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	slow, _ := origin(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler) // an answer now could arrive before the client has closed the connection
	}, func(c *config.URL) { c.Timeout, c.Address = 2*time.Second, c.Address+"?key=s3cret" })
	defer close(hangs)
	_, err := slow.Who(request(t, "Cookie", "session=alice"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotContains(t, err.Error(), "s3cret")

	strange, _ := origin(t, me, func(c *config.URL) { c.CAFile = "" })
	_, err = strange.Who(request(t, "Cookie", "session=alice"))
	require.ErrorContains(t, err, "certificate")

	gone, _ := origin(t, me, func(c *config.URL) { c.Address = "https://127.0.0.1:1/me?key=s3cret" })
	_, err = gone.Who(request(t, "Cookie", "session=alice"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "s3cret")
	require.NotErrorIs(t, err, agent.ErrNotLoggedIn)

	c := config.Default().URL
	c.CAFile = file(t, "no certificate")
	_, err = who.NewURL(c)
	require.ErrorContains(t, err, "url.ca_file")
	c.CAFile = "/nowhere"
	_, err = who.NewURL(c)
	require.ErrorContains(t, err, "url.ca_file")
}

// FuzzOriginServer: whatever it answers, a user has a name, and it is in the answer.
func FuzzOriginServer(f *testing.F) {
	for _, seed := range []string{`{"userID":"alice"}`, `{"userID":42}`, `{"userID":null}`, `{"userID":{"a":1}}`, `{}`, `[`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		u, _ := origin(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }, same)
		user, err := u.Who(request(t, "Cookie", "session=alice"))
		require.Equal(t, err == nil, user.Name != "")
	})
}
