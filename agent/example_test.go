package agent_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/qosrtc/qos/agent"
)

// An origin server in Go: its own sessions say who is logged in.
func ExampleNewHandler() {
	sessions := map[string]string{"c0ffee": "alice"} // yours
	key, err := agent.GenerateKey()                  // yours: keydir.Open
	if err != nil {
		panic(err)
	}
	tokens, err := agent.NewHandler(agent.Options{
		AppID:   "123",
		Key:     func() *agent.Key { return key }, // yours: keys.Current
		Origins: []string{"https://app.example.org"},
		Who: func(r *http.Request) (agent.User, error) {
			cookie, err := r.Cookie("session")
			if errors.Is(err, http.ErrNoCookie) || sessions[cookie.Value] == "" {
				return agent.User{}, agent.ErrNotLoggedIn
			}
			return agent.User{Name: sessions[cookie.Value]}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/token", tokens)

	r := httptest.NewRequest(http.MethodPost, "/token", http.NoBody)
	r.Header.Set("Origin", "https://app.example.org")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)

	r.AddCookie(&http.Cookie{Name: "session", Value: "c0ffee"})
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, strings.HasPrefix(w.Body.String(), `{"token":"eyJ`))
	// Output:
	// 403 {"error":"not logged in"}
	// 200 true
}
