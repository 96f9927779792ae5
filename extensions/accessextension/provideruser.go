package accessextension

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/qosrtc/qos/extensions/accessextension/internal/openid"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// writeTries is how often a write is tried that another one was quicker than.
const writeTries = 5

// denial says why a user whom the provider has signed in is not signed in here.
type denial struct {
	reason string // of the audit entry
	cause  string // for the log
	text   string // of the page
}

// Error implements error.
func (d *denial) Error() string { return d.cause }

var (
	errNoRole   = &denial{"role", "no value of the claim of roles is in the map", "Your account has no role in qos. An administrator can give you one."}
	errNoApps   = &denial{"apps", "the claim of apps must give 1 to 50 AppIDs, or *", "Your account has no app in qos, or too many. An administrator can change that."}
	errDisabled = &denial{"disabled", "the user is disabled", "An administrator of qos has disabled your account."}
	errNoRoom   = &denial{"full", "the store has no room for another user", "qos has no room for another user. An administrator can delete some."}
	errIdentity = &denial{"identity", "issuer or subject is too long or empty", "Your account does not have the form that qos needs."}
)

// admit returns the user of the claims, as the claims say now. An administrator's word that a user is
// disabled wins. The name is that of the user's document, also with an error.
func (k *keeper) admit(ctx context.Context, claims openid.Claims) (name string, u *access.User, err error) {
	cfg := k.provider.cfg
	identity := cfg.identity(claims)
	name = identity.UserName()
	if identity.Check() != nil {
		return "", nil, errIdentity
	}
	want := access.User{Roles: cfg.roles(claims), Scope: cfg.scope(claims), Identity: &identity}
	for range writeTries {
		u, err = k.admitOnce(ctx, name, want)
		if !errors.Is(err, storage.ErrConflict) {
			break
		}
	}
	return name, u, err
}

func (k *keeper) admitOnce(ctx context.Context, name string, want access.User) (*access.User, error) {
	have, revision, err := k.readUser(ctx, name)
	if err != nil && !errors.Is(err, storage.ErrNoSetting) {
		return nil, err
	}
	if have.Disabled {
		return nil, errDisabled
	}
	if len(want.Roles) == 0 {
		return nil, k.endRights(ctx, name, have, revision, errNoRole)
	}
	if want.Check() != nil {
		return nil, k.endRights(ctx, name, have, revision, errNoApps)
	}
	u := have
	if revision == 0 {
		now := k.now().UTC().Truncate(time.Millisecond)
		// The user may have been deleted before, and the logins must not come to life again.
		u.CreatedAt, u.Generation = now, now.UnixMilli()
	}
	u.Roles, u.Scope, u.Identity = want.Roles, want.Scope, want.Identity
	if revision != 0 && sameRights(&u, &have) && *u.Identity == *have.Identity {
		return &have, nil
	}
	if revision == 0 || !sameRights(&u, &have) {
		if err := k.recordClaims(ctx, name, "claims", &u); err != nil {
			return nil, err
		}
	}
	_, err = k.putUser(ctx, name, u, revision)
	return &u, err
}

// endRights ends the logins of a user to whom the claims give nothing any more. It returns the reason,
// or the error of the store.
func (k *keeper) endRights(ctx context.Context, name string, u access.User, revision int64, why *denial) error {
	if revision == 0 {
		return why
	}
	u.Generation++
	if err := k.recordClaims(ctx, name, "signOut", &u); err != nil {
		return err
	}
	if _, err := k.putUser(ctx, name, u, revision); err != nil {
		return err
	}
	return why
}

func (k *keeper) recordClaims(ctx context.Context, name, change string, u *access.User) error {
	return k.Record(ctx, access.Entry{
		Actor: name, Action: access.ActionUser, Target: name,
		Body: map[string]any{"change": change, "name": u.Identity.Name, "roles": u.Roles, "scope": u.Scope},
	})
}

func sameRights(a, b *access.User) bool {
	return slices.Equal(a.Roles, b.Roles) && a.Scope.All == b.Scope.All && slices.Equal(a.Scope.Apps, b.Scope.Apps)
}
