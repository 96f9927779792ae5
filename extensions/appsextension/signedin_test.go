package appsextension

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
)

// Each route is in the table of needs, and is refused to a user without the role admin even by a server
// that forgets to check.
//
// spec: DASH-03
func TestRoutesForUsers(t *testing.T) {
	r := startOn(t, newMemory(), withoutAPI)
	handlers := r.ManagementHandlers()
	require.Len(t, handlers, len(routes()))
	for pattern, handler := range handlers {
		need, ok := access.NeedOf(pattern)
		require.True(t, ok, "internal/identity/access has no need of %s", pattern)
		visitors := []*access.Visitor{nil, {Roles: []access.Role{access.Support, access.Engineering}, Scope: access.Scope{All: true}}}
		if strings.HasSuffix(pattern, "/export") {
			require.Equal(t, access.Export, need, pattern)
			visitors = append(visitors, &access.Visitor{Roles: []access.Role{access.Admin, access.Engineering}, Scope: access.Scope{Apps: []string{"shop"}}})
		} else {
			require.Equal(t, access.Settings, need, pattern)
		}
		for _, v := range visitors {
			req := httptest.NewRequestWithContext(access.With(t.Context(), v), http.MethodGet, "/", nil)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, req)
			require.Equal(t, http.StatusForbidden, w.Code, pattern)
		}
	}
}
