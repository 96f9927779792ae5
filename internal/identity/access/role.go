package access

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/qosrtc/qos/internal/identity/visible"
)

// Role is what a user may do. A user has a set of roles.
type Role string

// The roles.
const (
	// Support reads calls, with userName and the text of feedback.
	Support Role = "support"
	// Engineering reads calls, with aliasName only.
	Engineering Role = "engineering"
	// Admin manages settings and users. It reads no calls.
	Admin Role = "admin"
)

// AllRoles are the roles.
var AllRoles = []Role{Support, Engineering, Admin}

// Scope is the apps that a user may read or manage. The zero value is none.
type Scope struct {
	All  bool     `json:"all"`
	Apps []string `json:"apps,omitempty"` // AppIDs, without All
}

// MaxScopeApps is the number of apps that a scope lists. A search reads each of them.
const MaxScopeApps = 50

// Has reports whether an app is in the scope.
func (s Scope) Has(app string) bool { return s.All || slices.Contains(s.Apps, app) }

// Covers reports whether all apps of another scope are in the scope.
func (s Scope) Covers(other Scope) bool {
	return s.All || !other.All && !slices.ContainsFunc(other.Apps, func(app string) bool { return !s.Has(app) })
}

// Visitor is the user, or the holder of an API token, who sends a request.
type Visitor struct {
	Name   string // of the user; token: and the name of the API token
	Shown  string // name that pages show; empty: Name
	Login  string // names the login or the token in logs and audit entries
	Method string // of sign-in
	Token  bool   // the request has an API token
	Roles  []Role
	Scope  Scope
	// MustChange says that the password must be changed before anything else.
	MustChange bool
}

// ShownName returns the name that pages show.
func (v *Visitor) ShownName() string { return cmp.Or(v.Shown, v.Name) }

// Is reports whether the visitor has a role.
func (v *Visitor) Is(r Role) bool { return slices.Contains(v.Roles, r) }

// Gives reports whether the visitor, an administrator, may give a role to others: one with all apps in scope
// any role, for they manage the roles of all users, and another one only their own.
func (v *Visitor) Gives(r Role) bool { return v.Scope.All || v.Is(r) }

// Reads reports whether the visitor may read calls.
func (v *Visitor) Reads() bool { return v.Is(Support) || v.Is(Engineering) }

func checkRoles(roles []Role) error {
	if len(roles) == 0 {
		return &Fault{Field: "roles", Limit: "have at least one role", Got: "none"}
	}
	for i, r := range roles {
		if !slices.Contains(AllRoles, r) {
			return &Fault{Field: "roles", Limit: fmt.Sprintf("be of %v", AllRoles), Got: "another value"}
		}
		if slices.Contains(roles[:i], r) {
			return &Fault{Field: "roles", Limit: "have each role once", Got: string(r) + " twice"}
		}
	}
	return nil
}

func (s Scope) check() error {
	switch {
	case s.All && len(s.Apps) > 0:
		return &Fault{Field: "scope", Limit: "be all, or list apps", Got: "both"}
	case !s.All && len(s.Apps) == 0:
		return &Fault{Field: "scope", Limit: "be all, or list apps", Got: "neither"}
	case len(s.Apps) > MaxScopeApps:
		return &Fault{Field: "scope.apps", Limit: fmt.Sprintf("have at most %d apps", MaxScopeApps), Got: strconv.Itoa(len(s.Apps))}
	}
	for _, app := range s.Apps {
		if app == "" || len(app) > maxAppBytes {
			return &Fault{Field: "scope.apps", Limit: fmt.Sprintf("be AppIDs of 1 to %d bytes", maxAppBytes), Got: strconv.Itoa(len(app))}
		}
		if !visible.ID(app) { // no app has such an ID
			return &Fault{Field: "scope.apps", Limit: visible.IDLimit, Got: "another one"}
		}
	}
	return nil
}

// maxAppBytes is the longest AppID (docs/protocol.md).
const maxAppBytes = 256
