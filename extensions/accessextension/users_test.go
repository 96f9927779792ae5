package accessextension

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

func isAdmin(u *access.User) { u.Roles = []access.Role{access.Admin} }

// admin starts an extension with a signed-in administrator.
func admin(t *testing.T) (*running, *browser) {
	t.Helper()
	r := startOn(t, newStore(t))
	first, revision, err := r.readUser(t.Context(), "admin")
	require.NoError(t, err)
	first.Disabled = true // the tests' administrator is the only one
	_, err = r.putUser(t.Context(), "admin", first, revision)
	require.NoError(t, err)
	r.user("root", isAdmin)
	return r, r.in("root", good)
}

func (b *browser) put(user, body string, header ...string) answer {
	b.t.Helper()
	return b.do(http.MethodPut, "/api/v1/users/"+user, body, append(header, "Content-Type", "application/json")...)
}

func decode[T any](tb testing.TB, a answer) (out T) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal([]byte(a.body), &out), a.body)
	return out
}

const support = `{"roles":["support"],"scope":{"all":true}}`

// spec: DASH-03
func TestUsersAPI(t *testing.T) {
	r, b := admin(t)
	made := b.put("ada", support, "If-None-Match", "*")
	require.Equal(t, http.StatusCreated, made.status, made.body)
	ada := decode[userView](t, made)
	require.True(t, ada.MustChange)
	shown := b.get("/api/v1/users/ada")
	require.Equal(t, made.header.Get("ETag"), shown.header.Get("ETag"))
	require.NotContains(t, shown.body, ada.Password, "it is returned once")
	require.NotContains(t, shown.body, "argon2")
	require.Equal(t, "/password", r.browser().signIn("ada", ada.Password).header.Get("Location"))

	require.Equal(t, http.StatusPreconditionFailed, b.put("ada", support, "If-None-Match", "*").status)
	require.Equal(t, http.StatusPreconditionFailed, b.put("ada", support, "If-Match", `"999"`).status)
	require.Equal(t, http.StatusPreconditionRequired, b.put("ada", support).status)
	require.Equal(t, http.StatusBadRequest, b.put("ada", support, "If-Match", `*`).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.put("ada", `{"roles":["support"],"scope":{"all":true},"password":"x"}`, "If-Match", shown.header.Get("ETag")).status)
	require.Equal(t, http.StatusNotFound, b.put("bob", support, "If-Match", `"1"`).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.put("b%20b", support, "If-None-Match", "*").status)
	require.Equal(t, http.StatusUnsupportedMediaType, b.do(http.MethodPut, "/api/v1/users/bob", support, "Content-Type", "text/plain", "If-None-Match", "*").status)
	require.Equal(t, http.StatusRequestEntityTooLarge, b.put("bob", `{"roles":["`+string(make([]byte, maxBodyBytes))+`"]}`, "If-None-Match", "*").status)
	bad := decode[jsonapi.Problem](t, b.put("bob", `{"roles":["root"],"scope":{"all":true}}`, "If-None-Match", "*"))
	require.Equal(t, jsonapi.Problem{
		Title: "Unprocessable Entity", Status: 422, Field: "roles", Limit: "must be of [support engineering admin]", Got: "another value",
		Detail: "roles must be of [support engineering admin] (got another value)",
	}, bad)

	changed := b.put("ada", `{"roles":["engineering"],"scope":{"all":false,"apps":["shop"]}}`, "If-Match", shown.header.Get("ETag"))
	require.Equal(t, http.StatusOK, changed.status, changed.body)
	require.Equal(t, access.Scope{Apps: []string{"shop"}}, decode[userView](t, changed).Scope)
	require.Equal(t, http.StatusNoContent, b.do(http.MethodDelete, "/api/v1/users/ada", "", "If-Match", changed.header.Get("ETag")).status)
	require.Equal(t, http.StatusNotFound, b.get("/api/v1/users/ada").status)
	require.Equal(t, http.StatusUnauthorized, r.browser().signIn("ada", ada.Password).status)
}

// A new password and signout end the user's logins.
//
// spec: DASH-03
func TestAnAdministratorEndsLogins(t *testing.T) {
	r, b := admin(t)
	r.user("ada")
	ada := r.in("ada", good)
	require.Equal(t, http.StatusOK, b.do(http.MethodPost, "/api/v1/users/ada/signout", "").status)
	require.Empty(t, ada.who())
	ada = r.in("ada", good)
	reset := b.do(http.MethodPost, "/api/v1/users/ada/password", "")
	require.Equal(t, http.StatusOK, reset.status, reset.body)
	require.Empty(t, ada.who())
	require.Equal(t, http.StatusUnauthorized, r.browser().signIn("ada", good).status)
	require.Equal(t, "/password", r.browser().signIn("ada", decode[userView](t, reset).Password).header.Get("Location"))

	made := b.put("eve", support, "If-None-Match", "*")
	eve := r.in("eve", decode[userView](t, made).Password)
	require.Equal(t, http.StatusNoContent, b.do(http.MethodDelete, "/api/v1/users/eve", "", "If-Match", made.header.Get("ETag")).status)
	r.clock.set(r.clock.now().Add(time.Second))
	b.put("eve", support, "If-None-Match", "*")
	require.Empty(t, eve.who(), "another user of the same name")
}

// An installation keeps an administrator.
//
// spec: DASH-03
func TestTheLastAdministratorStays(t *testing.T) {
	r, b := admin(t)
	etag := b.get("/api/v1/users/root").header.Get("ETag")
	for _, body := range []string{support, `{"roles":["admin"],"scope":{"apps":["a"]}}`, `{"roles":["admin"],"scope":{"all":true},"disabled":true}`} {
		require.Equal(t, http.StatusConflict, b.put("root", body, "If-Match", etag).status, body)
	}
	require.Equal(t, http.StatusConflict, b.do(http.MethodDelete, "/api/v1/users/root", "", "If-Match", etag).status)
	r.user("second", isAdmin)
	require.Equal(t, http.StatusOK, b.put("root", support, "If-Match", etag).status)
	require.Equal(t, http.StatusForbidden, b.get("/api/v1/users").status, "at once")
}

func TestUsersList(t *testing.T) {
	t.Parallel()
	r, b := admin(t)
	for n := range 5 {
		r.user(fmt.Sprint("user", n))
	}
	type list struct {
		Users []userView
		Next  string
	}
	var names []string
	for next := ""; ; {
		page := decode[list](t, b.get("/api/v1/users?limit=3&after="+next))
		for i := range page.Users {
			names = append(names, page.Users[i].Name)
		}
		if next = page.Next; next == "" {
			break
		}
	}
	require.Equal(t, []string{"admin", "root", "user0", "user1", "user2", "user3", "user4"}, names)
	for _, bad := range []string{"0", "201", "x"} {
		require.Equal(t, http.StatusUnprocessableEntity, b.get("/api/v1/users?limit="+bad).status)
	}
}

// The audit log has who did what. Search terms may be names: they are for support.
//
// spec: DASH-03
func TestAuditLog(t *testing.T) {
	r, b := admin(t)
	r.user("both", func(u *access.User) { u.Roles = []access.Role{access.Admin, access.Support} })
	v := &access.Visitor{Name: "ada", Login: "l"}
	search := access.Entry{Action: access.ActionSearch, Target: "user=Ann+Real"}
	require.NoError(t, r.Read(t.Context(), v, search))
	require.NoError(t, r.Read(t.Context(), v, search), "a page that refreshes itself")
	require.NoError(t, r.Read(t.Context(), v, access.Entry{Action: access.ActionConference, AppID: "shop", Target: "standup"}))
	type list struct {
		Entries []auditView
		Next    string
	}
	page := decode[list](t, b.get("/api/v1/audit?limit=2&actor=ada"))
	require.Len(t, page.Entries, 2)
	require.Equal(t, "standup", page.Entries[0].Target)
	require.Equal(t, "shop", page.Entries[0].App)
	require.True(t, page.Entries[1].Hidden)
	require.Empty(t, page.Entries[1].Target)
	require.NotContains(t, b.get("/api/v1/audit").body, "Ann")
	require.Contains(t, r.in("both", good).get("/api/v1/audit?action=search").body, "user=Ann+Real")
	require.Empty(t, decode[list](t, b.get("/api/v1/audit?actor=ada&before="+page.Next)).Entries)
	require.Equal(t, http.StatusUnprocessableEntity, b.get("/api/v1/audit?before=x").status)

	r.clock.set(r.clock.now().Add(readAgain))
	require.NoError(t, r.Read(t.Context(), v, search))
	require.Len(t, decode[list](t, b.get("/api/v1/audit?actor=ada")).Entries, 3)
	r.sweep(t.Context(), r.clock.now().Add(r.cfg.AuditRetention))
	rest, err := r.store.AuditPage(t.Context(), storage.AuditQuery{Actor: "ada"})
	require.NoError(t, err)
	require.Len(t, rest, 1, "older entries were deleted")
}

// Strangers cannot fill the audit log; what is left out is counted.
//
// spec: DASH-03
func TestFailuresInTheAuditLogAreBounded(t *testing.T) {
	r := startOn(t, newStore(t))
	for range 100 {
		r.failed(t.Context(), "", access.Network(&http.Request{RemoteAddr: "192.0.2.77:1"}, nil), "password")
	}
	require.Len(t, r.audited(), 60)
	metadatatest.AssertEqualQosaccessAuditDropped(t, r.telemetry, []metricdata.DataPoint[int64]{{Value: 40}},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	page, err := r.store.AuditPage(t.Context(), storage.AuditQuery{Limit: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"reason":"password","network":"192.0.2.0/24"}`, string(page[0].Body))
}

// What is remembered of reads is bounded.
func TestReadsAreBounded(t *testing.T) {
	var r reads
	for n := range maxReads + 1 {
		r.note(strconv.Itoa(n), t0)
	}
	require.Len(t, r.at, 1)
	require.True(t, r.recent(strconv.Itoa(maxReads), t0))
	require.False(t, r.recent(strconv.Itoa(maxReads), t0.Add(readAgain)))
}

// No text has two meanings: members twice and names in another case are refused, at any depth, and nothing is made.
//
// spec: DASH-03
func TestBodiesAreStrict(t *testing.T) {
	r, b := admin(t)
	for body, field := range map[string]string{
		`{"roles":["support"],"roles":["admin"],"scope":{"all":true}}`:                "roles",
		`{"roles":["support"],"ROLES":["admin"],"scope":{"all":true}}`:                "ROLES",
		`{"Roles":["admin"],"scope":{"all":true}}`:                                    "Roles",
		`{"roles":["support"],"scope":{"apps":["shop"],"all":false,"all":true}}`:      "scope.all",
		`{"roles":["support"],"scope":{"apps":["shop"],"All":true}}`:                  "scope.All",
		`{"roles":["support"],"scope":{"apps":["shop"]},"sc\u006fpe":{"all":true}}`:   "scope",
		`{"roles":["support"],"scope":{"all":true},"disabled":true,"disabled":false}`: "disabled",
		`{"roles":["support"],"scope":{"all":true},"other":1}`:                        "other",
		`{"roles":["support"],"scope":{"apps":["sh\u200bop"]}}`:                       "scope.apps",
		`{"roles":"support","scope":{"all":true}}`:                                    "roles",
	} {
		a := b.put("ada", body, "If-None-Match", "*")
		require.Equal(t, http.StatusUnprocessableEntity, a.status, body)
		require.Equal(t, field, decode[jsonapi.Problem](t, a).Field, body)
		named := `{"name":"nightly",` + body[1:]
		a = b.postToken(named)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, named)
	}
	for _, body := range []string{``, `null`, `[]`, support + `{}`, support + `x`} {
		require.Equal(t, http.StatusBadRequest, b.put("ada", body, "If-None-Match", "*").status, body)
		require.Equal(t, http.StatusBadRequest, b.postToken(body).status, body)
	}
	require.Equal(t, http.StatusNotFound, b.get("/api/v1/users/ada").status)
	require.Empty(t, b.tokens())
	require.Equal(t, http.StatusCreated, b.put("ada", support, "If-None-Match", "*").status)
	_, _, err := r.readUser(t.Context(), "ada")
	require.NoError(t, err)
}
