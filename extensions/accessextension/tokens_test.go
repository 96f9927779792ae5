package accessextension

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

func (b *browser) postToken(body string) answer {
	b.t.Helper()
	return b.do(http.MethodPost, "/api/v1/tokens", body, "Content-Type", "application/json")
}

// token makes a token of which that is expected.
func (b *browser) token(body string) tokenView {
	b.t.Helper()
	a := b.postToken(body)
	require.Equal(b.t, http.StatusCreated, a.status, a.body)
	return decode[tokenView](b.t, a)
}

// tokens returns the tokens that a browser lists, by name.
func (b *browser) tokens() map[string]tokenView {
	b.t.Helper()
	a := b.get("/api/v1/tokens")
	require.Equal(b.t, http.StatusOK, a.status, a.body)
	require.NotContains(b.t, a.body, "digest")
	out := map[string]tokenView{}
	for _, one := range decode[struct{ Tokens []tokenView }](b.t, a).Tokens {
		out[one.Name] = one
	}
	return out
}

// holder returns the visitor of a token.
func (r *running) holder(text string) (*access.Visitor, error) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/api/conferences", nil)
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer "+text)
	req.RemoteAddr = "192.0.2.1:4711"
	return r.Visitor(req)
}

// refused requires that a token is refused with a status.
func (r *running) refused(text string, status int) (wait time.Duration) {
	r.t.Helper()
	v, err := r.holder(text)
	require.Nil(r.t, v)
	var refusal *access.Refusal
	require.ErrorAs(r.t, err, &refusal)
	require.Equal(r.t, status, refusal.Status)
	return refusal.Wait
}

// spec: DASH-05
func TestTokensAPI(t *testing.T) {
	r, b := admin(t)
	made := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":false,"apps":["shop"]},"expiresInDays":7}`)
	require.Equal(t, t0.AddDate(0, 0, 7), made.ExpiresAt)
	v, err := r.holder(made.Token)
	require.NoError(t, err)
	require.Equal(t, access.Visitor{
		Name: "token:nightly", Login: v.Login, Method: "token", Token: true, Roles: []access.Role{access.Support}, Scope: access.Scope{Apps: []string{"shop"}},
	}, *v)
	require.NotEmpty(t, v.Login, "repeated reads are audited once an hour")

	stored, err := r.store.Setting(t.Context(), kindToken, access.APITokenID("nightly"))
	require.NoError(t, err)
	require.NotContains(t, string(stored.Body), made.Token)
	listed := b.tokens()["nightly"]
	require.Equal(t, tokenView{
		Name: "nightly", Roles: made.Roles, Scope: made.Scope, Maker: "root", CreatedAt: t0, ExpiresAt: made.ExpiresAt, UsedAt: t0, State: "valid",
	}, listed)

	require.Equal(t, http.StatusConflict, b.postToken(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`).status)
	require.Equal(t, t0.AddDate(0, 0, 90), b.token(`{"name":"later","roles":["engineering"],"scope":{"all":true}}`).ExpiresAt)
	require.Equal(t, t0.AddDate(0, 0, 366), b.token(`{"name":"year","roles":["engineering"],"scope":{"all":true},"expiresInDays":366}`).ExpiresAt)
	for body, field := range map[string]string{
		`{"name":"","roles":["support"],"scope":{"all":true}}`:                      "name",
		`{"name":"x","roles":["admin"],"scope":{"all":true}}`:                       "roles",
		`{"name":"x","roles":[],"scope":{"all":true}}`:                              "roles",
		`{"name":"x","roles":["support"],"scope":{}}`:                               "scope",
		`{"name":"x","roles":["support"],"scope":{"all":true},"expiresInDays":0}`:   "expiresInDays",
		`{"name":"x","roles":["support"],"scope":{"all":true},"expiresInDays":367}`: "expiresInDays",
	} {
		a := b.postToken(body)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, body)
		require.Equal(t, field, decode[jsonapi.Problem](t, a).Field, body)
	}
	require.Equal(t, http.StatusUnprocessableEntity, b.postToken(`{"name":"x","digest":"x"}`).status)

	require.Equal(t, http.StatusNotFound, b.do(http.MethodDelete, "/api/v1/tokens/nothing", "").status)
	require.Equal(t, http.StatusNoContent, b.do(http.MethodDelete, "/api/v1/tokens/nightly", "").status)
	r.refused(made.Token, http.StatusUnauthorized)
	again := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`)
	r.refused(made.Token, http.StatusUnauthorized)
	_, err = r.holder(again.Token)
	require.NoError(t, err)
	log := r.audited()
	require.Contains(t, log, "root changeToken nightly")
	require.NotContains(t, fmt.Sprint(log), "qos_")
}

// An administrator of some apps makes, lists and revokes tokens within them.
//
// spec: DASH-03, DASH-05
func TestTokensWithinScope(t *testing.T) {
	r, root := admin(t)
	root.token(`{"name":"all","roles":["support"],"scope":{"all":true}}`)
	root.token(`{"name":"other","roles":["support"],"scope":{"apps":["shop","other"]}}`)
	r.user("manager", func(u *access.User) {
		u.Roles, u.Scope = []access.Role{access.Admin, access.Support}, access.Scope{Apps: []string{"shop", "bank"}}
	})
	b := r.in("manager", good)
	b.token(`{"name":"mine","roles":["support"],"scope":{"apps":["bank"]}}`)
	for _, scope := range []string{`{"all":true}`, `{"apps":["shop","other"]}`} {
		a := b.postToken(`{"name":"x","roles":["support"],"scope":` + scope + `}`)
		require.Equal(t, http.StatusUnprocessableEntity, a.status)
		require.Equal(t, "scope", decode[jsonapi.Problem](t, a).Field)
	}
	for _, roles := range []string{`["engineering"]`, `["support","engineering"]`} {
		a := b.postToken(`{"name":"x","roles":` + roles + `,"scope":{"apps":["bank"]}}`)
		require.Equal(t, http.StatusUnprocessableEntity, a.status)
		require.Equal(t, "roles", decode[jsonapi.Problem](t, a).Field)
	}
	require.Len(t, b.tokens(), 1)
	require.Contains(t, b.tokens(), "mine")
	require.Equal(t, http.StatusNotFound, b.do(http.MethodDelete, "/api/v1/tokens/all", "").status)
	require.Equal(t, http.StatusNotFound, b.do(http.MethodDelete, "/api/v1/tokens/other", "").status)
	require.Len(t, root.tokens(), 3)
	require.Equal(t, http.StatusNoContent, root.do(http.MethodDelete, "/api/v1/tokens/mine", "").status)

	r.user("reader", func(u *access.User) { u.Roles = []access.Role{access.Support, access.Engineering} })
	require.Equal(t, http.StatusForbidden, r.in("reader", good).postToken(`{"name":"x","roles":["support"],"scope":{"all":true}}`).status)
}

// A token ends at its expiry, and with the right of its maker.
//
// spec: DASH-05
func TestTokensEnd(t *testing.T) {
	r, b := admin(t)
	made := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true},"expiresInDays":1}`)
	year := b.token(`{"name":"year","roles":["support"],"scope":{"all":true},"expiresInDays":366}`)
	r.clock.set(made.ExpiresAt.Add(-time.Millisecond))
	_, err := r.holder(made.Token)
	require.NoError(t, err)
	r.clock.set(made.ExpiresAt)
	r.refused(made.Token, http.StatusUnauthorized)
	b = r.in("root", good)
	require.Equal(t, "expired", b.tokens()["nightly"].State)

	u, revision, err := r.readUser(t.Context(), "root")
	require.NoError(t, err)
	r.user("boss", isAdmin)
	boss := r.in("boss", good)
	disabled := u
	disabled.Disabled = true
	revision, err = r.putUser(t.Context(), "root", disabled, revision)
	require.NoError(t, err)
	r.refused(year.Token, http.StatusUnauthorized)
	require.Equal(t, "maker", boss.tokens()["year"].State)
	revision, err = r.putUser(t.Context(), "root", u, revision)
	require.NoError(t, err)
	_, err = r.holder(year.Token)
	require.NoError(t, err)

	require.NoError(t, r.settings.DeleteSetting(t.Context(), kindUser, "root", revision))
	r.refused(year.Token, http.StatusUnauthorized)
	require.Equal(t, "maker", boss.tokens()["year"].State)
	r.user("root", isAdmin, func(u *access.User) { u.CreatedAt = r.clock.now() }) // another person
	r.refused(year.Token, http.StatusUnauthorized)

	r.sweep(t.Context(), made.ExpiresAt.Add(keepExpired-time.Millisecond))
	require.Contains(t, r.in("boss", good).tokens(), "nightly")
	r.sweep(t.Context(), made.ExpiresAt.Add(keepExpired))
	require.NotContains(t, r.in("boss", good).tokens(), "nightly")
	require.Contains(t, r.in("boss", good).tokens(), "year")
}

// A token of an administrator of some apps ends with each role that the administrator loses, and is valid
// again with it.
//
// spec: DASH-03, DASH-05
func TestTokensLoseTheRolesOfTheirMaker(t *testing.T) {
	r, root := admin(t)
	r.user("manager", func(u *access.User) { u.Roles, u.Scope = access.AllRoles, access.Scope{Apps: []string{"shop"}} })
	made := r.in("manager", good).token(`{"name":"nightly","roles":["support"],"scope":{"apps":["shop"]}}`)
	for roles, valid := range map[string]bool{
		`["admin","support"]`: true, `["admin","engineering"]`: false, `["admin"]`: false, `["support"]`: false, `["support","engineering","admin"]`: true,
	} {
		at := root.get("/api/v1/users/manager").header.Get("ETag")
		require.Equal(t, http.StatusOK, root.put("manager", `{"roles":`+roles+`,"scope":{"apps":["shop"]}}`, "If-Match", at).status)
		if valid {
			_, err := r.holder(made.Token)
			require.NoError(t, err, roles)
			continue
		}
		r.refused(made.Token, http.StatusUnauthorized)
		require.Equal(t, "maker", root.tokens()["nightly"].State, roles)
	}
}

// A collector refuses at once what another one revoked.
//
// spec: DASH-05
func TestTokenIsRevokedInEveryCollector(t *testing.T) {
	t.Parallel()
	f := func(t *testing.T, one, two engine) {
		t.Helper()
		r := startOn(t, one)
		r.user("root", isAdmin)
		other := startOn(t, two)
		b := r.in("root", good)
		made := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`)
		_, err := other.holder(made.Token)
		require.NoError(t, err)
		require.Equal(t, t0, b.tokens()["nightly"].UsedAt)
		require.Equal(t, http.StatusNoContent, b.do(http.MethodDelete, "/api/v1/tokens/nightly", "").status)
		other.refused(made.Token, http.StatusUnauthorized)
		require.Empty(t, b.tokens(), "a use does not bring it back")
	}
	t.Run("sqlite", func(t *testing.T) {
		store := newStore(t)
		f(t, store, store)
	})
	t.Run("postgres", func(t *testing.T) {
		one, two := newPostgres(t)
		f(t, one, two)
	})
}

// spec: DASH-05
func TestTokenRecordsItsUse(t *testing.T) {
	r, b := admin(t)
	made := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`)
	use := func(at time.Time) time.Time {
		r.clock.set(at)
		_, err := r.holder(made.Token)
		require.NoError(t, err)
		token, _, err := r.readToken(t.Context(), access.APITokenID("nightly"))
		require.NoError(t, err)
		return token.UsedAt
	}
	require.Equal(t, t0, use(t0))
	require.Equal(t, t0, use(t0.Add(time.Hour-time.Millisecond)))
	require.Equal(t, t0.Add(time.Hour), use(t0.Add(time.Hour)))

	// A use that was read before a revocation does not undo it.
	token, revision, err := r.readToken(t.Context(), access.APITokenID("nightly"))
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, r.in("root", good).do(http.MethodDelete, "/api/v1/tokens/nightly", "").status)
	r.clock.set(t0.Add(3 * time.Hour))
	require.NoError(t, r.seeToken(t.Context(), &token, revision))
	_, _, err = r.readToken(t.Context(), access.APITokenID("nightly"))
	require.ErrorIs(t, err, storage.ErrNoSetting)
}

// spec: DASH-05
func TestWrongTokensAreThrottled(t *testing.T) {
	r, b := admin(t)
	right := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`)
	for range 100 { // right ones are not counted
		_, err := r.holder(right.Token)
		require.NoError(t, err)
	}
	for i := range 30 {
		wrong := access.NewAPITokenText("nightly")
		if i%2 == 0 {
			wrong = "qos_x"
		}
		r.refused(wrong, http.StatusUnauthorized)
	}
	wait := r.refused(right.Token, http.StatusTooManyRequests)
	require.Positive(t, wait)
	require.Zero(t, r.lockout.Begin(access.Source{User: "root", Network: netip.MustParsePrefix("192.0.2.1/32")}, r.clock.now()), "passwords have another limit")
	r.clock.set(t0.Add(wait))
	_, err := r.holder(right.Token)
	require.NoError(t, err)

	points := func(what string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Attributes: attribute.NewSet(attribute.String("result", what)), Value: n}
	}
	metadatatest.AssertEqualQosaccessTokenRequests(t, r.telemetry, []metricdata.DataPoint[int64]{
		points("accepted", 101), points("wrong", 30), points("throttled", 1),
	}, metricdatatest.IgnoreTimestamp())
}

// spec: DASH-05
func TestAnswersToTokens(t *testing.T) {
	r, b := admin(t)
	made := b.token(`{"name":"nightly","roles":["support"],"scope":{"all":true}}`)
	program := r.browser()
	wrong := program.do(http.MethodGet, "/api/v1/tokens", "", "Authorization", "Bearer qos_x")
	require.Equal(t, http.StatusUnauthorized, wrong.status)
	require.Equal(t, `Bearer error="invalid_token"`, wrong.header.Get("WWW-Authenticate"))
	require.Equal(t, "no-store", wrong.header.Get("Cache-Control"))
	require.Equal(t, http.StatusBadRequest, b.do(http.MethodGet, "/api/v1/tokens", "", "Authorization", "Bearer "+made.Token).status, "with a login")
	for _, path := range []string{"/api/v1/tokens", "/api/v1/users", "/api/v1/audit", "/api/session", "/password"} {
		require.Equal(t, http.StatusForbidden, program.do(http.MethodGet, path, "", "Authorization", "Bearer "+made.Token).status, path)
	}
	for range 30 {
		wrong = program.do(http.MethodGet, "/api/v1/tokens", "", "Authorization", "Bearer qos_x")
	}
	require.Equal(t, http.StatusTooManyRequests, wrong.status)
	require.NotEmpty(t, wrong.header.Get("Retry-After"))
}
