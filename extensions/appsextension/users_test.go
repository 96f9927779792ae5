//go:build !fuzz

package appsextension

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/appsextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// usersHost is a host whose storage extension has users.
type usersHost struct {
	component.Host
	store *sqlite.Store
}

// GetExtensions implements component.Host.
func (h usersHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storeID: usersExtension{storeExtension{settings: h.store}, h.store}}
}

type usersExtension struct {
	storeExtension
	users storage.Users
}

// Users implements userKeeper.
func (e usersExtension) Users() storage.Users { return e.users }

// withUsers starts an extension on a store with a call of zoe.
func withUsers(t *testing.T) (*running, *sqlite.Store, *componenttest.Telemetry) {
	t.Helper()
	store, telemetry := newSQLite(t), componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	r := unstarted(t, telemetry.NewTelemetrySettings())
	require.NoError(t, r.Start(t.Context(), usersHost{Host: componenttest.NewNopHost(), store: store}))
	begun := time.Now().Add(-time.Hour)
	_, err := store.Append(t.Context(), []storage.Batch{{
		Session: storage.Session{ID: "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", AppID: "shop", UserID: "zoe-4711", UserAlias: "zoe-4711"},
		Records: []storage.Record{{Seq: 1, ConferenceID: "c", ConferenceAt: begun, At: begun, ObservedAt: begun, Name: "qos.stats", Activity: true}},
	}})
	require.NoError(t, err)
	return r, store, telemetry
}

// An operator exports a user, erases the user and reads the progress. Neither the logs nor the answers to the erasure
// have the ID, and no URL has it.
//
// spec: PRIV-02
func TestUserIsExportedAndErased(t *testing.T) {
	r, store, telemetry := withUsers(t)
	export := func() (lines []string) {
		a := r.must(http.StatusOK, http.MethodPost, shop+"/users/export", `{"userID": "zoe-4711"}`)
		require.Equal(t, "application/x-ndjson", a.header.Get("Content-Type"))
		return strings.Split(strings.TrimSpace(a.text), "\n")
	}
	lines := export()
	require.Len(t, lines, 4)
	require.JSONEq(t, `{"type":"user","ids":["zoe-4711"]}`, lines[0])
	require.Contains(t, lines[1], `"type":"session"`)
	require.Contains(t, lines[2], `"type":"record"`)
	require.JSONEq(t, `{"type":"end","complete":true}`, lines[3])

	a := r.must(http.StatusAccepted, http.MethodPost, shop+"/users/erase", `{"userID": "zoe-4711"}`)
	e := into[storage.Erasure](t, a)
	require.Equal(t, storage.ErasureSessions, e.State)
	require.Equal(t, shop+"/users/erasures/"+e.ID, a.header.Get("Location"))
	done, err := store.RunErasures(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, done)
	ended := r.must(http.StatusOK, http.MethodGet, a.header.Get("Location"), "")
	require.Equal(t, storage.ErasureDone, into[storage.Erasure](t, ended).State)
	require.Equal(t, 1, into[storage.Erasure](t, ended).Sessions)
	require.Len(t, export(), 2, "the ID that was asked for, and the end")

	for _, entry := range r.logs.All() {
		text, err := json.Marshal(entry.ContextMap())
		require.NoError(t, err)
		require.NotContains(t, entry.Message+string(text), "zoe-4711")
	}
	require.NotContains(t, a.text+ended.text, "zoe-4711")
	require.Equal(t, 3, r.logged("an app was changed"))
	kinds := func(kind string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("kind", kind))}
	}
	metadatatest.AssertEqualQosappsUserRequests(t, telemetry, []metricdata.DataPoint[int64]{kinds("export", 2), kinds("erase", 1)},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

// The revocation of an erased user's tokens is exported, loses the ID and stays in force.
//
// spec: PRIV-02, AUTH-04
func TestRevocationOfAnErasedUser(t *testing.T) {
	r, _, _ := withUsers(t)
	r.create(`{}`)
	for _, user := range []string{"zoe-4711", "bob"} {
		r.must(http.StatusOK, http.MethodPost, shop+"/revoke", fmt.Sprintf(`{"user": %q, "before": "2026-01-02T03:04:05Z"}`, user))
	}
	const exported = `{"type":"revocation","atMs":1767323045000,"ids":["zoe-4711"]}`
	export := func() string {
		return r.must(http.StatusOK, http.MethodPost, shop+"/users/export", `{"userID": "zoe-4711"}`).text
	}
	require.Contains(t, export(), exported+"\n")
	r.must(http.StatusAccepted, http.MethodPost, shop+"/users/erase", `{"userID": "zoe-4711"}`)
	shown := r.must(http.StatusOK, http.MethodGet, shop, "")
	require.NotContains(t, shown.text, "zoe")
	revoked := into[struct{ RevokedUsers map[string]time.Time }](t, shown).RevokedUsers
	var app auth.App
	require.Eventually(t, func() bool { // the change is read a moment later
		app, _ = r.App("shop")
		return maps.Equal(revoked, app.RevokedUsers)
	}, time.Minute, time.Millisecond)
	require.Nil(t, app.Recorded(), "records have IDs as before")
	id := app.Pseudonyms.All("zoe-4711")[0]
	before := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, map[string]time.Time{"bob": before, id: before}, revoked)
	require.NotContains(t, export(), exported)
}

// A user of an app that hashes is exported and erased by the ID: with what was recorded before, and under each
// pseudonym.
//
// spec: PRIV-02
func TestHashedUserIsExportedAndErased(t *testing.T) {
	r, store, _ := withUsers(t)
	r.create(`{"userIDs":"hash"}`)
	r.must(http.StatusOK, http.MethodPost, shop+"/user-id-key", "")
	r.eventually("two keys", func(s auth.App, _ bool) bool { return len(s.Pseudonyms.All("x")) == 2 })
	ids := r.StoredUserIDs("shop", "zoe-4711")
	begun := time.Now().Add(-time.Hour)
	for i, id := range ids[1:] {
		_, err := store.Append(t.Context(), []storage.Batch{{
			Session: storage.Session{ID: fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e4%d", i), AppID: "shop", UserID: id, UserAlias: id},
			Records: []storage.Record{{Seq: 1, ConferenceID: "c", ConferenceAt: begun, At: begun, ObservedAt: begun, Name: "qos.stats", Activity: true}},
		}})
		require.NoError(t, err)
	}
	exported := r.must(http.StatusOK, http.MethodPost, shop+"/users/export", `{"userID": "zoe-4711"}`).text
	require.Equal(t, 3, strings.Count(exported, `"type":"session"`), exported)
	a := r.must(http.StatusAccepted, http.MethodPost, shop+"/users/erase", `{"userID": "zoe-4711"}`)
	_, err := store.RunErasures(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, into[storage.Erasure](t, r.must(http.StatusOK, http.MethodGet, a.header.Get("Location"), "")).Sessions)
	page, err := store.Conferences(t.Context(), storage.Query{AppID: "shop"})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1)
	for _, p := range page.Conferences[0].Participants {
		require.NotContains(t, ids, p.Session.UserID)
	}
}

// A body that names no user is refused, with the member and its limit.
//
// spec: PRIV-02
func TestUserRequestsAreChecked(t *testing.T) {
	r, store, _ := withUsers(t)
	for _, path := range []string{"/users/export", "/users/erase"} {
		for body, status := range map[string]int{
			`{}`: 422, `{"userID": ""}`: 422, `{"userID": 7}`: 422, `{"userID": {"userName": "zoe-4711"}}`: 422, `{"userID": "` + strings.Repeat("x", 2000) + `"}`: 422,
			`{"userID": "zoe-4711", "more": 1}`: 422, `no JSON`: 400,
		} {
			a := r.call(http.MethodPost, shop+path, body)
			require.Equal(t, status, a.status, "%s %s: %s", path, body, a.text)
			require.NotContains(t, a.text, "zoe-4711")
		}
	}
	for _, id := range []string{"unknown", strings.Repeat("x", 2000)} {
		r.must(http.StatusNotFound, http.MethodGet, shop+"/users/erasures/"+id, "")
	}
	other := into[storage.Erasure](t, r.must(http.StatusAccepted, http.MethodPost, "/api/v1/apps/other/users/erase", `{"userID": "x"}`))
	r.must(http.StatusNotFound, http.MethodGet, shop+"/users/erasures/"+other.ID, "")
	_, err := store.RunErasures(t.Context())
	require.NoError(t, err)
	for range maxExports {
		r.exports <- struct{}{}
	}
	r.must(http.StatusServiceUnavailable, http.MethodPost, shop+"/users/export", `{"userID": "zoe-4711"}`)
	<-r.exports
	r.must(http.StatusOK, http.MethodPost, shop+"/users/export", `{"userID": "zoe-4711"}`)
}

// Without a store there is nobody to export or erase.
func TestUsersNeedAStore(t *testing.T) {
	r := startOn(t, newMemory())
	r.must(http.StatusConflict, http.MethodPost, shop+"/users/export", `{"userID": "x"}`)
	r.must(http.StatusConflict, http.MethodPost, shop+"/users/erase", `{"userID": "x"}`)
	r.must(http.StatusNotFound, http.MethodGet, shop+"/users/erasures/x", "")
}
