package signin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// refusal is what the audit log has of a refused request.
type refusal struct{ actor, app, target, reason string }

// refusals returns those of the log, the oldest first.
func (in *installation) refusals() (all []refusal) {
	in.t.Helper()
	page, err := in.store.Accounts().AuditPage(in.t.Context(), storage.AuditQuery{Action: access.ActionRefused, Limit: storage.MaxAuditPage})
	require.NoError(in.t, err)
	for i := range page {
		var body struct{ Reason string }
		require.NoError(in.t, json.Unmarshal(page[i].Body, &body))
		all = append([]refusal{{page[i].Actor, page[i].AppID, page[i].Target, body.Reason}}, all...)
	}
	return all
}

// Each request that the rights of a user or of a token do not permit is in the audit log, once: a route of another role,
// an app of others, a wrong token. Requests without a login are not.
//
// spec: DASH-03, DASH-05
func TestRefusedRequestsAreAudited(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
	v := &access.Visitor{Roles: []access.Role{access.Admin, access.Engineering}, Scope: access.Scope{Apps: []string{"other"}}}
	in.put("manager", access.User{Roles: v.Roles, Scope: v.Scope})
	manager, nobody, root := in.in("manager"), in.browser(), in.in("root")

	var want []refusal
	for _, route := range access.Routes {
		e := expectations()[route.Pattern]
		method, path, _ := strings.Cut(route.Pattern, " ")
		requested, _, _ := strings.Cut(e.path, "?")
		status := expected(route, e, v)
		switch {
		case status == http.StatusForbidden && !route.Need.Allows(v):
			want = append(want, refusal{"manager", "", method + " " + requested, "role"})
		case strings.HasPrefix(path, "/api/v1/apps/{app}") && route.Need == access.Export:
			want = append(want, refusal{"manager", "shop", method + " " + requested, "role"})
		case strings.HasPrefix(path, "/api/v1/apps/{app}"):
			want = append(want, refusal{"manager", "shop", method + " " + requested, "scope"})
		case path == "/api/conference": // its text and its tail are of the same conference
			want = append(want, refusal{"manager", "shop", "standup", "scope"})
		}
		for range 2 { // the same request twice is one entry
			got, body, _ := manager.do(method, e.path, "")
			require.Equal(t, status, got, body)
		}
		nobody.do(method, e.path, "")
	}
	for _, path := range []string{"/api/conference", "/api/conference/text", "/api/conference/tail"} {
		status, body, _ := manager.do(http.MethodGet, path+"?app=shop&at=5&from=5&id="+path, "")
		require.Equal(t, http.StatusNotFound, status, body)
		want = append(want, refusal{"manager", "shop", path, "scope"})
	}
	require.Equal(t, want, in.refusals())

	status, body, _ := root.do(http.MethodPost, "/api/v1/tokens", `{"name":"nightly","roles":["support"],"scope":{"apps":["other"]}}`, "Content-Type", "application/json")
	require.Equal(t, http.StatusCreated, status, body)
	var token struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &token))
	for _, bearer := range []string{token.Token, "qos_wrong"} {
		nobody.do(http.MethodGet, "/api/v1/users?limit=2", "", "Authorization", "Bearer "+bearer)
		nobody.do(http.MethodGet, conference("shop"), "", "Authorization", "Bearer "+bearer)
	}
	require.Equal(t, append(want,
		refusal{"token:nightly", "", "GET /api/v1/users", "token"},
		refusal{"token:nightly", "shop", "standup", "scope"},
		refusal{"", "", "GET /api/v1/users", "token"},
		refusal{"", "", "GET /api/conference", "token"},
	), in.refusals())
}
