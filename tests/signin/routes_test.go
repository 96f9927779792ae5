package signin

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
)

// expectation is a request to a route and what a visitor who may use it gets.
type expectation struct {
	path   string
	status int
	other  int // where only another app is in scope; 0: the same
}

// expectations has each route of the table.
func expectations() map[string]expectation {
	return map[string]expectation{
		"GET /health":           {"/health", 204, 0},
		"GET /signin":           {"/signin", 200, 0},
		"POST /signin":          {"/signin", 403, 0}, // without the token of the form
		"GET /signin/style.css": {"/signin/style.css", 200, 0},
		"GET /signin/link":      {"/signin/link?token=x", 200, 0},
		"POST /signin/link":     {"/signin/link", 403, 0},

		"GET /signin/provider":          {"/signin/provider", 404, 0}, // none is configured
		"GET /signin/provider/callback": {"/signin/provider/callback", 404, 0},

		"POST /signout":    {"/signout", 403, 0},
		"GET /password":    {"/password", 200, 0},
		"POST /password":   {"/password", 403, 0},
		"GET /api/session": {"/api/session", 200, 0},
		"GET /assets/":     {"/assets/app.css", 200, 0},

		"GET /{$}":                    {"/", 200, 0},
		"GET /search":                 {"/search", 200, 0},
		"GET /conference":             {"/conference?app=shop&id=standup", 200, 0}, // the page is the same; the answer it asks for is not
		"GET /app":                    {"/app?app=shop", 200, 0},
		"GET /user":                   {"/user?app=shop&user=ann", 200, 0},
		"GET /changes":                {"/changes", 200, 0},
		"GET /unattached":             {"/unattached", 200, 0},
		"GET /precalls":               {"/precalls", 200, 0},
		"GET /api/precalls":           {"/api/precalls", 200, 0},
		"GET /api/precalls/providers": {"/api/precalls/providers?from=1&to=2", 200, 0},
		"GET /trace/{trace}":          {trace("shop"), 302, 404},
		"GET /api/conferences":        {"/api/conferences", 200, 0},
		"GET /api/conferences.csv":    {"/api/conferences.csv", 200, 0},
		"GET /api/conferences.json":   {"/api/conferences.json", 200, 0},
		"GET /api/conference":         {conference("shop"), 200, 404},
		"GET /api/conference/tail":    {strings.Replace(conference("shop"), "/api/conference?", "/api/conference/tail?from=1&", 1), 200, 404},
		"GET /api/conference/text":    {strings.Replace(conference("shop"), "/api/conference?", "/api/conference/text?", 1), 200, 404},
		"GET /api/unattached":         {"/api/unattached", 200, 0},
		"GET /api/overview":           {"/api/overview?from=1&to=2", 200, 0},
		"GET /api/user":               {"/api/user?app=shop&user=ann", 200, 0},              // without calls of another app
		"GET /api/trend":              {"/api/trend?app=shop&from=1&to=2&by=sites", 200, 0}, // without counts of another app
		"GET /api/contrast":           {"/api/contrast?from=1&to=2", 200, 0},
		"GET /api/live":               {"/api/live", 200, 0},
		"GET /api/openapi.json":       {"/api/openapi.json", 200, 0},

		"POST /mcp":   {"/mcp", 403, 0}, // for tokens only
		"GET /mcp":    {"/mcp", 403, 0},
		"DELETE /mcp": {"/mcp", 403, 0},

		"GET /settings":        {"/settings", 200, 0},
		"GET /settings/app":    {"/settings/app?app=shop", 200, 0}, // as with conferences, the answer is not the same
		"GET /settings/tokens": {"/settings/tokens", 200, 0},
		"GET /settings/users":  {"/settings/users", 200, 0},
		"GET /settings/audit":  {"/settings/audit", 200, 0},

		"GET /api/v1/apps":                                                        {"/api/v1/apps", 200, 0},
		"GET /api/v1/apps/{app}":                                                  {"/api/v1/apps/shop", 200, 404},
		"PUT /api/v1/apps/{app}":                                                  {"/api/v1/apps/shop", 428, 404}, // without a condition
		"DELETE /api/v1/apps/{app}":                                               {"/api/v1/apps/shop", 428, 404},
		"POST /api/v1/apps/{app}/secrets":                                         {"/api/v1/apps/shop/secrets", 201, 404},
		"PUT /api/v1/apps/{app}/secrets/{credential}":                             {"/api/v1/apps/shop/secrets/x", 400, 404},
		"DELETE /api/v1/apps/{app}/secrets/{credential}":                          {"/api/v1/apps/shop/secrets/x", 404, 404},
		"POST /api/v1/apps/{app}/keys":                                            {"/api/v1/apps/shop/keys", 400, 404},
		"PUT /api/v1/apps/{app}/keys/{credential}":                                {"/api/v1/apps/shop/keys/x", 400, 404},
		"DELETE /api/v1/apps/{app}/keys/{credential}":                             {"/api/v1/apps/shop/keys/x", 404, 404},
		"POST /api/v1/apps/{app}/revoke":                                          {"/api/v1/apps/shop/revoke", 400, 404},
		"GET /api/v1/apps/{app}/webhooks/{webhook}/deliveries":                    {"/api/v1/apps/shop/webhooks/x/deliveries", 404, 404},
		"POST /api/v1/apps/{app}/webhooks/{webhook}/deliveries/{delivery}/replay": {"/api/v1/apps/shop/webhooks/x/deliveries/y/replay", 404, 404},
		"POST /api/v1/apps/{app}/webhooks/{webhook}/test":                         {"/api/v1/apps/shop/webhooks/x/test", 404, 404},
		"POST /api/v1/apps/{app}/webhooks/{webhook}/secret":                       {"/api/v1/apps/shop/webhooks/x/secret", 404, 404},
		"POST /api/v1/apps/{app}/user-id-key":                                     {"/api/v1/apps/shop/user-id-key", 422, 404},  // the app does not hash
		"POST /api/v1/apps/{app}/users/export":                                    {"/api/v1/apps/shop/users/export", 400, 404}, // without a body
		"POST /api/v1/apps/{app}/users/erase":                                     {"/api/v1/apps/shop/users/erase", 400, 404},
		"GET /api/v1/apps/{app}/users/erasures/{erasure}":                         {"/api/v1/apps/shop/users/erasures/x", 404, 404},

		"GET /api/v1/tokens":            {"/api/v1/tokens", 200, 0},
		"POST /api/v1/tokens":           {"/api/v1/tokens", 400, 0}, // without a body
		"DELETE /api/v1/tokens/{token}": {"/api/v1/tokens/nothing", 404, 0},

		"GET /api/v1/users":                  {"/api/v1/users", 200, 0},
		"GET /api/v1/users/{user}":           {"/api/v1/users/support", 200, 0},
		"PUT /api/v1/users/{user}":           {"/api/v1/users/support", 428, 0}, // without a condition
		"DELETE /api/v1/users/{user}":        {"/api/v1/users/support", 428, 0},
		"POST /api/v1/users/{user}/password": {"/api/v1/users/nobody/password", 404, 0},
		"POST /api/v1/users/{user}/signout":  {"/api/v1/users/nobody/signout", 404, 0},
		"GET /api/v1/audit":                  {"/api/v1/audit", 200, 0},
	}
}

// expected is the status for a visitor; nil: nobody.
func expected(route access.Route, e expectation, v *access.Visitor) int {
	method, path, _ := strings.Cut(route.Pattern, " ")
	page := method == http.MethodGet && path != "/mcp" && !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/assets/")
	allowed := map[access.Need]bool{ // written out again: the table's own judgement is under test
		access.Nothing:      true,
		access.SignedIn:     v != nil,
		access.Calls:        v != nil && !v.MustChange && (v.Is(access.Support) || v.Is(access.Engineering)),
		access.Settings:     v != nil && !v.MustChange && v.Is(access.Admin),
		access.Export:       v != nil && !v.MustChange && v.Is(access.Admin) && (v.Is(access.Support) || v.Scope.All),
		access.Installation: v != nil && !v.MustChange && v.Is(access.Admin) && v.Scope.All,
	}[route.Need]
	switch {
	case allowed && e.other != 0 && !v.Scope.Has("shop"):
		return e.other
	case allowed:
		return e.status
	case page && (v == nil || v.MustChange):
		return http.StatusSeeOther
	case e.path == "/" && v.Is(access.Admin): // leads to the settings
		return http.StatusSeeOther
	case v == nil:
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// Each route, with each role and none, and with another app in scope. A route that nobody has decided
// about is not in the table, and no server registers it; one that this test does not know fails it.
//
// spec: DASH-03, DASH-05
func TestEachRouteWithEachRole(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	all := access.Scope{All: true}
	visitors := map[string]*access.Visitor{
		"support":        {Roles: []access.Role{access.Support}, Scope: all},
		"engineering":    {Roles: []access.Role{access.Engineering}, Scope: access.Scope{Apps: []string{"shop", "a"}}},
		"foreign":        {Roles: []access.Role{access.Support}, Scope: access.Scope{Apps: []string{"other", "a"}}},
		"root":           {Roles: []access.Role{access.Admin}, Scope: all},
		"manager":        {Roles: []access.Role{access.Admin}, Scope: access.Scope{Apps: []string{"shop"}}},
		"exporter":       {Roles: []access.Role{access.Admin, access.Support}, Scope: access.Scope{Apps: []string{"shop"}}},
		"foreignmanager": {Roles: []access.Role{access.Admin, access.Engineering}, Scope: access.Scope{Apps: []string{"other"}}},
		"fresh":          {Roles: access.AllRoles, Scope: all, MustChange: true},
	}
	for name, v := range visitors {
		in.put(name, access.User{Roles: v.Roles, Scope: v.Scope, MustChange: v.MustChange})
	}
	browsers := map[string]*browser{"nobody": in.browser()}
	for name := range visitors {
		browsers[name] = in.in(name)
	}
	status, body, _ := browsers["root"].do(http.MethodPut, "/api/v1/apps/shop", `{}`, "Content-Type", "application/json", "If-None-Match", "*")
	require.Equal(t, http.StatusCreated, status, body)
	known := expectations()
	for _, route := range access.Routes {
		e, ok := known[route.Pattern]
		require.True(t, ok, "%s has no expectation", route.Pattern)
		delete(known, route.Pattern)
		method, _, _ := strings.Cut(route.Pattern, " ")
		for name, b := range browsers {
			status, body, _ := b.do(method, e.path, "")
			require.Equal(t, expected(route, e, visitors[name]), status, "%s as %s: %s", route.Pattern, name, body)
		}
	}
	require.Empty(t, slices.Collect(maps.Keys(known)), "not in the table")
	for name, b := range browsers { // what is no route is not answered to nobody either
		status, _, _ := b.do(http.MethodGet, "/api/export", "")
		require.Equal(t, map[bool]int{true: http.StatusUnauthorized, false: http.StatusNotFound}[name == "nobody"], status, name)
	}
}
