package signin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// An administrator manages the apps in scope on the dashboard. Each change is in the audit log, no secret is.
//
// spec: DASH-03
func TestManagementOnTheDashboard(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
	in.put("manager", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{Apps: []string{"shop", "declared", "absent"}}})
	root, manager := in.in("root"), in.in("manager")
	create := func(b *browser, app string) int {
		t.Helper()
		status, _, _ := b.do(http.MethodPut, "/api/v1/apps/"+app, `{}`, "Content-Type", "application/json", "If-None-Match", "*")
		return status
	}
	require.Equal(t, http.StatusCreated, create(root, "other"))
	require.Equal(t, http.StatusCreated, create(manager, "shop"))
	require.Equal(t, http.StatusNotFound, create(manager, "new"))
	status, secret, head := manager.do(http.MethodPost, "/api/v1/apps/shop/secrets", "")
	require.Equal(t, http.StatusCreated, status)
	require.Equal(t, "no-store", head.Get("Cache-Control"))

	list := root.get("/api/v1/apps")
	require.Contains(t, list, `"other"`)
	list = manager.get("/api/v1/apps")
	require.NotContains(t, list, `"other"`)
	require.Contains(t, list, `"shop"`)
	require.Contains(t, list, `"declared"`)
	require.NotContains(t, list, "absent")
	require.Contains(t, manager.get("/api/v1/apps?limit=1"), `"next":"declared"`)
	require.NotContains(t, manager.get("/api/v1/apps?limit=1&after=declared"), `"id":"declared"`)

	_, text, ok := strings.Cut(secret, `"secret":"`)
	require.True(t, ok, secret)
	text, _, _ = strings.Cut(text, `"`)
	entries, err := in.store.Accounts().AuditPage(t.Context(), storage.AuditQuery{Action: access.ActionApp})
	require.NoError(t, err)
	var lines []string
	for i := range entries {
		e := &entries[len(entries)-1-i]
		lines = append(lines, e.Actor+" "+e.AppID)
		require.NotContains(t, string(e.Body), text)
	}
	require.Equal(t, []string{"root other", "manager shop", "manager shop"}, lines)
	require.Contains(t, string(entries[0].Body), `"change":"add secret"`)
}
