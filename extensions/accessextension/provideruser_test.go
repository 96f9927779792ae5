package accessextension

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/extensions/accessextension/internal/openid"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// withOIDC is a configuration whose provider is not requested.
func withOIDC(c *Config) {
	o := defaultOIDC()
	o.Issuer, o.ClientID, o.RedirectURL = "https://id.example.org", "qos", "https://dash.example.org"+callbackPath
	o.Roles.Claim, o.Roles.Map = "roles", map[string][]access.Role{"s": {access.Support}, "a": {access.Admin, access.Support}}
	o.Apps.Claim = "apps"
	c.OIDC = configoptional.Some(o)
}

func claimsOf(roles ...any) openid.Claims {
	return openid.Claims{"sub": "1", "name": "Ada", "roles": roles, "apps": "*"}
}

// writing are settings in which something happens before a user is written.
type writing struct {
	engine
	before func(tries int) error
	tries  int
}

func (w *writing) PutSetting(ctx context.Context, s storage.Setting) (int64, error) {
	if w.before != nil && s.Kind == kindUser {
		w.tries++
		if err := w.before(w.tries); err != nil {
			return 0, err
		}
	}
	return w.engine.PutSetting(ctx, s)
}

// Of two writes of a user at the same time none is lost: a sign-in reads again what was written meanwhile.
//
// spec: DASH-03
func TestSignInsOfOneUserAtTheSameTime(t *testing.T) {
	store := &writing{engine: newStore(t)}
	r := startOn(t, store, withOIDC)
	name, _, err := r.admit(t.Context(), claimsOf("s"))
	require.NoError(t, err)
	meanwhile := func(change func(*access.User)) func(int) error {
		return func(tries int) error {
			if tries > 1 {
				return nil
			}
			u, revision, err := r.readUser(t.Context(), name)
			require.NoError(t, err)
			change(&u)
			_, err = r.putUser(t.Context(), name, u, revision)
			require.NoError(t, err)
			return nil
		}
	}
	store.before, store.tries = meanwhile(func(u *access.User) { u.Generation += 7 }), 0
	before, _, err := r.readUser(t.Context(), name)
	require.NoError(t, err)
	_, u, err := r.admit(t.Context(), claimsOf("a"))
	require.NoError(t, err)
	require.Equal(t, []access.Role{access.Support, access.Admin}, u.Roles)
	require.Equal(t, before.Generation+7, u.Generation)

	store.before, store.tries = meanwhile(func(u *access.User) { u.Disabled = true }), 0
	_, _, err = r.admit(t.Context(), claimsOf("s"))
	require.ErrorIs(t, err, errDisabled, "an administrator was quicker")
	store.before = nil
	u2, revision, err := r.readUser(t.Context(), name)
	require.NoError(t, err)
	require.True(t, u2.Disabled)
	u2.Disabled = false
	_, err = r.putUser(t.Context(), name, u2, revision)
	require.NoError(t, err)

	store.before, store.tries = func(int) error { return storage.ErrConflict }, 0
	_, _, err = r.admit(t.Context(), claimsOf())
	require.ErrorIs(t, err, storage.ErrConflict)
	require.Equal(t, writeTries, store.tries, "it ends")
	store.before, store.tries = func(tries int) error {
		if tries == 1 {
			return storage.ErrConflict
		}
		return nil
	}, 0
	_, _, err = r.admit(t.Context(), claimsOf())
	require.ErrorIs(t, err, errNoRole)
	u2, _, err = r.readUser(t.Context(), name)
	require.NoError(t, err)
	require.Greater(t, u2.Generation, u.Generation, "the logins end")
}

// The same claims write nothing: a sign-in leaves the revision that an administrator has read.
func TestASignInThatChangesNothing(t *testing.T) {
	r := startOn(t, newStore(t), withOIDC)
	name, _, err := r.admit(t.Context(), claimsOf("s"))
	require.NoError(t, err)
	revision := revisionOf(r, name)
	_, _, err = r.admit(t.Context(), claimsOf("s", "unknown", 7))
	require.NoError(t, err)
	require.Equal(t, revision, revisionOf(r, name))
	renamed := claimsOf("s")
	renamed["name"] = "Ada King"
	_, u, err := r.admit(t.Context(), renamed)
	require.NoError(t, err)
	require.Equal(t, "Ada King", u.Identity.Name)
	require.Equal(t, []string{name + " changeUser " + name}, r.audited(), "a name is no right")
}

// Accounts that qos cannot store, and names that are none.
//
// spec: DASH-03
func TestOddAccounts(t *testing.T) {
	r := startOn(t, newStore(t), withOIDC)
	for _, sub := range []any{"", nil, 7, string(make([]byte, 256))} {
		odd := claimsOf("s")
		odd["sub"] = sub
		_, _, err := r.admit(t.Context(), odd)
		require.ErrorIs(t, err, errIdentity)
	}
	for name, want := range map[any]string{"\u202e\x00": "1", nil: "1", 7: "1", "  Ada\n\u2066King ": "Ada King"} {
		odd := claimsOf("s")
		odd["name"] = name
		_, u, err := r.admit(t.Context(), odd)
		require.NoError(t, err)
		require.Equal(t, want, u.Identity.Name)
	}
}

// Each refusal has a page, and a line of the log until there are too many.
//
// spec: DASH-03
func TestRefusals(t *testing.T) {
	r := startOn(t, newStore(t), withOIDC)
	core, logs := observer.New(zapcore.InfoLevel)
	r.log = zap.New(core)
	refused := func(refuse func(*atProvider)) (status int, page string) {
		w := httptest.NewRecorder()
		refuse(&atProvider{keeper: r.keeper, ctx: t.Context(), w: w, r: httptest.NewRequest(http.MethodGet, callbackPath, http.NoBody), to: "/"})
		return w.Code, w.Body.String()
	}
	for err, want := range map[error]int{
		storage.ErrFull: http.StatusForbidden, errNoRole: http.StatusForbidden, errNoApps: http.StatusForbidden, errIdentity: http.StatusForbidden,
		errDisabled: http.StatusForbidden, storage.ErrConflict: http.StatusServiceUnavailable, errors.New("the connection broke"): http.StatusServiceUnavailable,
	} {
		status, page := refused(func(a *atProvider) { a.refuseUser("oidc:x", err) })
		require.Equal(t, want, status, err)
		require.Contains(t, page, "Error ID <code>")
	}
	for kind := range providerAnswers {
		_, page := refused(func(a *atProvider) {
			a.refuseFailure(&openid.Failure{Kind: kind, Stage: "a stage", Err: errors.New("a reason")})
		})
		require.Contains(t, page, "Error ID <code>")
		require.NotContains(t, page, "a reason")
	}
	for range 100 {
		refused(func(a *atProvider) { a.refuseUser("oidc:x", errNoRole) })
	}
	_, page := refused(func(a *atProvider) { a.refuseUser("oidc:x", errNoRole) })
	require.NotContains(t, page, "Error ID", "an ID that the log does not have")
	require.Equal(t, failureRate.Burst, logs.Len())
}
