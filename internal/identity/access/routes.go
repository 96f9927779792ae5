package access

import (
	"net/http"
	"strings"
)

// Need is what a route requires of a visitor.
type Need int

// The needs, from the least to the most.
const (
	// Nothing is required: sign-in and health.
	Nothing Need = iota
	// SignedIn is a login of any role, also one whose password must be changed.
	SignedIn
	// Calls is the role support or engineering.
	Calls
	// Settings is the role admin. A route of one app requires the app in the scope.
	Settings
	// Export is Settings for what contains names of users and the text of feedback: the visitor may give the
	// role support, so an administrator of some apps must have it.
	Export
	// Installation is the role admin with all apps in scope.
	Installation
)

// Route is a method, a path and its need. A pattern that ends with a slash stands for all paths
// below it.
type Route struct {
	Pattern string // of net/http.ServeMux
	Need    Need
}

// Routes is every route of the dashboard and of the management API. A route that is not here is
// not registered by any server, and a test requests each of them with every role.
var Routes = []Route{
	{"GET /health", Nothing},
	{"GET /signin", Nothing},
	{"POST /signin", Nothing},
	{"GET /signin/style.css", Nothing},
	{"GET /signin/link", Nothing},
	{"POST /signin/link", Nothing},
	{"GET /signin/provider", Nothing},
	{"GET /signin/provider/callback", Nothing},

	{"POST /signout", SignedIn},
	{"GET /password", SignedIn},
	{"POST /password", SignedIn},
	{"GET /api/session", SignedIn},
	{"GET /assets/", SignedIn},

	{"GET /{$}", Calls},
	{"GET /search", Calls},
	{"GET /conference", Calls},
	{"GET /changes", Calls},
	{"GET /user", Calls},
	{"GET /app", Calls},
	{"GET /unattached", Calls},
	{"GET /precalls", Calls},
	{"GET /trace/{trace}", Calls},
	{"GET /api/conferences", Calls},
	{"GET /api/conferences.csv", Calls},
	{"GET /api/conferences.json", Calls},
	{"GET /api/conference", Calls},
	{"GET /api/conference/tail", Calls},
	{"GET /api/conference/text", Calls},
	{"GET /api/unattached", Calls},
	{"GET /api/precalls", Calls},
	{"GET /api/precalls/providers", Calls},
	{"GET /api/overview", Calls},
	{"GET /api/contrast", Calls},
	{"GET /api/user", Calls},
	{"GET /api/openapi.json", Calls},
	{"GET /api/trend", Calls},
	{"GET /api/live", Calls},
	{"POST /mcp", Calls},
	{"GET /mcp", Calls},
	{"DELETE /mcp", Calls},

	{"GET /settings", Settings},
	{"GET /settings/app", Settings},
	{"GET /settings/tokens", Settings},
	{"GET /settings/users", Installation},
	{"GET /settings/audit", Installation},

	{"GET /api/v1/apps", Settings},
	{"GET /api/v1/apps/{app}", Settings},
	{"PUT /api/v1/apps/{app}", Settings},
	{"DELETE /api/v1/apps/{app}", Settings},
	{"POST /api/v1/apps/{app}/secrets", Settings},
	{"PUT /api/v1/apps/{app}/secrets/{credential}", Settings},
	{"DELETE /api/v1/apps/{app}/secrets/{credential}", Settings},
	{"POST /api/v1/apps/{app}/keys", Settings},
	{"PUT /api/v1/apps/{app}/keys/{credential}", Settings},
	{"DELETE /api/v1/apps/{app}/keys/{credential}", Settings},
	{"POST /api/v1/apps/{app}/revoke", Settings},
	{"POST /api/v1/apps/{app}/user-id-key", Settings},
	{"GET /api/v1/apps/{app}/webhooks/{webhook}/deliveries", Settings},
	{"POST /api/v1/apps/{app}/webhooks/{webhook}/deliveries/{delivery}/replay", Settings},
	{"POST /api/v1/apps/{app}/webhooks/{webhook}/test", Settings},
	{"POST /api/v1/apps/{app}/webhooks/{webhook}/secret", Settings},
	{"POST /api/v1/apps/{app}/users/export", Export},
	{"POST /api/v1/apps/{app}/users/erase", Settings},
	{"GET /api/v1/apps/{app}/users/erasures/{erasure}", Settings},

	{"GET /api/v1/tokens", Settings},
	{"POST /api/v1/tokens", Settings},
	{"DELETE /api/v1/tokens/{token}", Settings},

	{"GET /api/v1/users", Installation},
	{"GET /api/v1/users/{user}", Installation},
	{"PUT /api/v1/users/{user}", Installation},
	{"DELETE /api/v1/users/{user}", Installation},
	{"POST /api/v1/users/{user}/password", Installation},
	{"POST /api/v1/users/{user}/signout", Installation},
	{"GET /api/v1/audit", Installation},
}

// NeedOf returns the need of a pattern, and false where it is in no route.
func NeedOf(pattern string) (Need, bool) {
	for _, r := range Routes {
		if r.Pattern == pattern || strings.HasSuffix(r.Pattern, "/") && strings.HasPrefix(pattern, r.Pattern) {
			return r.Need, true
		}
	}
	return 0, false
}

// Allows reports whether a visitor meets a need; nil is nobody.
func (n Need) Allows(v *Visitor) bool {
	switch {
	case n == Nothing:
		return true
	case v == nil:
		return false
	case v.Token:
		return n == Calls && v.Reads()
	case n == SignedIn:
		return true
	case v.MustChange:
		return false
	case n == Calls:
		return v.Reads()
	case n == Settings:
		return v.Is(Admin)
	case n == Export:
		return v.Is(Admin) && v.Gives(Support)
	case n == Installation:
		return v.Is(Admin) && v.Scope.All
	}
	return false
}

// Mux is a ServeMux of routes whose needs are known.
type Mux struct{ mux http.ServeMux }

// Handle registers the handler of a route. It panics for a pattern that is in no route.
func (m *Mux) Handle(pattern string, handler http.Handler) {
	if _, ok := NeedOf(pattern); !ok {
		panic("BUG: Routes has no need of " + pattern)
	}
	m.mux.Handle(pattern, handler)
}

// Need returns the need of a request, and false where no route matches.
func (m *Mux) Need(r *http.Request) (Need, bool) {
	_, pattern := m.mux.Handler(r)
	return NeedOf(pattern)
}

// TakesTokens reports whether the route of a request is for holders of API tokens.
func (m *Mux) TakesTokens(r *http.Request) bool {
	_, pattern := m.mux.Handler(r)
	return TakesTokens(pattern)
}

// ServeHTTP implements http.Handler. It checks no need.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
