package signin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
)

// token makes an API token as root, and returns the header that has it.
func (in *installation) token(body string) []string {
	in.t.Helper()
	status, text, _ := in.in("root").do(http.MethodPost, "/api/v1/tokens", body, "Content-Type", "application/json")
	require.Equal(in.t, http.StatusCreated, status, text)
	var made struct{ Token string }
	require.NoError(in.t, json.Unmarshal([]byte(text), &made))
	return []string{"Authorization", "Bearer " + made.Token}
}

// Each route with API tokens: the read API answers, within roles and scope, and nothing else.
//
// spec: DASH-03, DASH-05
func TestEachRouteWithTokens(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
	holders := map[string][]string{
		"support":     in.token(`{"name":"support","roles":["support"],"scope":{"all":true}}`),
		"engineering": in.token(`{"name":"engineering","roles":["engineering"],"scope":{"apps":["shop","a"]}}`),
		"foreign":     in.token(`{"name":"foreign","roles":["support"],"scope":{"apps":["other","a"]}}`),
	}
	wrong := []string{"Authorization", "Bearer " + access.NewAPITokenText("support")}
	known := expectations()
	program := in.browser()
	for _, route := range access.Routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		e := known[route.Pattern]
		for name, header := range holders {
			want := http.StatusForbidden
			switch {
			case path == "/mcp": // a request without a body, and methods of sessions
				want = map[string]int{http.MethodPost: http.StatusUnsupportedMediaType}[method]
				if want == 0 {
					want = http.StatusMethodNotAllowed
				}
			case route.Need == access.Nothing:
				want = e.status
			case route.Need == access.Calls && strings.HasPrefix(path, "/api/"):
				want = e.status
				if name == "foreign" && e.other != 0 {
					want = e.other
				}
			}
			if method == http.MethodPost && strings.HasPrefix(path, "/signin") {
				continue // forms of visitors without a login; the header has no effect
			}
			status, body, _ := program.do(method, e.path, "", header...)
			require.Equal(t, want, status, "%s with the token %s: %s", route.Pattern, name, body)
		}
	}
	status, _, head := program.do(http.MethodGet, "/api/conferences", "", wrong...)
	require.Equal(t, http.StatusUnauthorized, status)
	require.NotEmpty(t, head.Get("WWW-Authenticate"))
	status, _, _ = program.do(http.MethodGet, "/api/conferences?access_token="+strings.TrimPrefix(holders["support"][1], "Bearer "), "")
	require.Equal(t, http.StatusUnauthorized, status, "a URL is no place for a token")
	status, _, _ = in.in("root").do(http.MethodGet, "/api/conferences", "", holders["support"]...)
	require.Equal(t, http.StatusBadRequest, status, "a token together with a login")
}

// A token sees names and apps as a user of its roles and scope does, and its reads are in the audit log.
//
// spec: DASH-03, DASH-05
func TestTokensSeeWhatTheirRolesSee(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
	support := in.token(`{"name":"support","roles":["support"],"scope":{"all":true}}`)
	engineering := in.token(`{"name":"engineering","roles":["engineering"],"scope":{"all":true}}`)
	foreign := in.token(`{"name":"foreign","roles":["support"],"scope":{"apps":["other"]}}`)
	program := in.browser()
	read := func(header []string) string {
		t.Helper()
		status, body, _ := program.do(http.MethodGet, "/api/conferences", "", header...)
		require.Equal(t, http.StatusOK, status, body)
		return body
	}
	require.Contains(t, read(support), "userName")
	require.NotContains(t, read(engineering), "userName")
	require.Contains(t, read(engineering), `"app":"shop"`)
	require.NotContains(t, read(foreign), `"app":"shop"`)
	log := in.in("root").get("/api/v1/audit")
	require.Contains(t, log, `"actor":"token:support","action":"search"`)

	second := in.browser()
	second.base = in.dashboard("qosaccess")
	status, _, _ := second.do(http.MethodGet, "/api/conferences", "", support...)
	require.Equal(t, http.StatusOK, status)
	status, _, _ = in.in("root").do(http.MethodDelete, "/api/v1/tokens/support", "")
	require.Equal(t, http.StatusNoContent, status)
	status, _, _ = second.do(http.MethodGet, "/api/conferences", "", support...)
	require.Equal(t, http.StatusUnauthorized, status)
}
