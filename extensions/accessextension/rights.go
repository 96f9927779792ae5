package accessextension

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/extensions/accessextension/internal/openid"
	"github.com/qosrtc/qos/internal/identity/access"
)

// allApps is the value of the claim of apps that stands for all of them.
const allApps = "*"

// wanted returns the claims that decide about a user.
func (c *OIDCConfig) wanted() []string {
	claims := []string{c.Roles.Claim, c.NameClaim}
	if c.Apps.Claim != "" {
		claims = append(claims, c.Apps.Claim)
	}
	return claims
}

// identity returns who the claims are about.
func (c *OIDCConfig) identity(claims openid.Claims) access.Identity {
	subject := claims.Text("sub")
	name := cmp.Or(access.ShownName(claims.Text(c.NameClaim)), access.ShownName(subject), "a user without a name")
	return access.Identity{Issuer: c.Issuer, Subject: subject, Name: name}
}

// roles returns the roles that the claims give; none where no value is in the map.
func (c *OIDCConfig) roles(claims openid.Claims) (roles []access.Role) {
	values := claims.Texts(c.Roles.Claim)
	for _, role := range access.AllRoles {
		if slices.ContainsFunc(values, func(value string) bool { return slices.Contains(c.Roles.Map[value], role) }) {
			roles = append(roles, role)
		}
	}
	return roles
}

// scope returns the apps that the claims give. It may be one that no user can have: none, or too many.
func (c *OIDCConfig) scope(claims openid.Claims) access.Scope {
	switch {
	case c.Apps.All:
		return access.Scope{All: true}
	case c.Apps.Claim == "":
		return access.Scope{Apps: c.Apps.List}
	}
	apps := claims.Texts(c.Apps.Claim)
	if slices.Contains(apps, allApps) {
		return access.Scope{All: true}
	}
	slices.Sort(apps)
	return access.Scope{Apps: slices.Compact(apps)}
}
