package access

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var t0 = time.UnixMilli(1_763_702_160_000).UTC()

func TestRolesAndScopes(t *testing.T) {
	f := func(want string, u User) {
		t.Helper()
		err := u.Check()
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	all := Scope{All: true}
	f("", User{Roles: AllRoles, Scope: all})
	f("", User{Roles: []Role{Support}, Scope: Scope{Apps: []string{"a", "b"}}})
	f("roles must have at least one role (got none)", User{Scope: all})
	f("roles must be of [support engineering admin] (got another value)", User{Roles: []Role{"root"}, Scope: all})
	f("roles must have each role once (got admin twice)", User{Roles: []Role{Admin, Admin}, Scope: all})
	f("scope must be all, or list apps (got neither)", User{Roles: AllRoles})
	f("scope must be all, or list apps (got both)", User{Roles: AllRoles, Scope: Scope{All: true, Apps: []string{"a"}}})
	f("scope.apps must be AppIDs of 1 to 256 bytes (got 0)", User{Roles: AllRoles, Scope: Scope{Apps: []string{""}}})
	f("scope.apps must have at most 50 apps (got 51)", User{Roles: AllRoles, Scope: Scope{Apps: make([]string, 51)}})

	require.True(t, (&User{Roles: AllRoles, Scope: all}).Manages())
	require.False(t, (&User{Roles: AllRoles, Scope: all, Disabled: true}).Manages())
	require.False(t, (&User{Roles: AllRoles, Scope: Scope{Apps: []string{"a"}}}).Manages())
	require.False(t, (&User{Roles: []Role{Support}, Scope: all}).Manages())
}

func TestUserDocuments(t *testing.T) {
	u := User{Roles: []Role{Support}, Scope: Scope{Apps: []string{"a"}}, Password: "hash", MustChange: true, Generation: 3, CreatedAt: t0, PasswordAt: t0}
	body, err := u.Encode()
	require.NoError(t, err)
	got, err := DecodeUser(body)
	require.NoError(t, err)
	require.Equal(t, u, got)
	for _, bad := range []string{"", "{", "{}", `{"roles":["support"],"scope":{"all":true},"generation":1,"createdAt":"2026-01-01T00:00:00Z","onlyOnMondays":true}`} {
		_, err := DecodeUser([]byte(bad))
		require.Error(t, err, bad)
	}
	for name, ok := range map[string]bool{
		"a": true, "ada.lovelace@example.org": true, "a+b_c-d": true, "": false, "-a": false, "Ada": false, "a b": false, "ä": false,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a\n": false,
	} {
		require.Equal(t, ok, CheckUserName(name) == nil, name)
	}
	require.Equal(t, "ada", UserName(" Ada\t"))
}

func TestLoginsEnd(t *testing.T) {
	l := Limits{Absolute: 12 * time.Hour, Idle: time.Hour}
	f := func(want bool, seen, now time.Duration) {
		t.Helper()
		require.Equal(t, want, l.Ended(t0, t0.Add(seen), t0.Add(now)))
	}
	f(false, 0, 0)
	f(false, 0, time.Hour)
	f(true, 0, time.Hour+SeeEvery)
	f(false, 11*time.Hour, 12*time.Hour-1)
	f(true, 12*time.Hour-1, 12*time.Hour)
	f(true, 0, -2*time.Minute) // the clock of another collector, or a forged row
}

// Each need, for nobody and for a visitor of each kind.
//
// spec: DASH-03
func TestNeeds(t *testing.T) {
	all, some := Scope{All: true}, Scope{Apps: []string{"a"}}
	visitors := map[string]*Visitor{
		"nobody": nil, "support": {Roles: []Role{Support}, Scope: all}, "engineering": {Roles: []Role{Engineering}, Scope: some},
		"admin": {Roles: []Role{Admin}, Scope: all}, "admin of a": {Roles: []Role{Admin}, Scope: some},
		"must change": {Roles: AllRoles, Scope: all, MustChange: true}, "no role": {Scope: all},
	}
	want := map[Need]map[string]bool{
		Nothing:      {"nobody": true, "support": true, "engineering": true, "admin": true, "admin of a": true, "must change": true, "no role": true},
		SignedIn:     {"support": true, "engineering": true, "admin": true, "admin of a": true, "must change": true, "no role": true},
		Calls:        {"support": true, "engineering": true},
		Settings:     {"admin": true, "admin of a": true},
		Installation: {"admin": true},
		Need(99):     {},
	}
	for need, allowed := range want {
		for name, v := range visitors {
			require.Equal(t, allowed[name], need.Allows(v), "%d %s", need, name)
		}
	}
}

// A route without a need cannot be registered.
//
// spec: DASH-03
func TestMux(t *testing.T) {
	var mux Mux
	for _, r := range Routes {
		pattern := r.Pattern
		if pattern == "GET /assets/" {
			pattern = "GET /assets/js/a.js"
		}
		mux.Handle(pattern, http.NotFoundHandler())
	}
	require.PanicsWithValue(t, "BUG: Routes has no need of GET /export", func() { mux.Handle("GET /export", http.NotFoundHandler()) })
	require.Panics(t, func() { mux.Handle("POST /assets/js/a.js", http.NotFoundHandler()) })
	for path, want := range map[string]Need{"/signin": Nothing, "/assets/js/a.js": SignedIn, "/api/live": Calls, "/api/v1/apps/x": Settings, "/api/v1/audit": Installation} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
			require.NoError(t, err)
			need, ok := mux.Need(r)
			require.True(t, ok, path)
			require.Equal(t, want, need, path)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "/api/live", nil)
	require.NoError(t, err)
	_, ok := mux.Need(r)
	require.False(t, ok)
}
