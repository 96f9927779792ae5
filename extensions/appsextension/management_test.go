package appsextension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/extensions/appsextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

const shop = "/api/v1/apps/shop"

// refused asks what must be refused, and returns why.
func (r *running) refused(status int, method, path, body string, headers ...string) jsonapi.Problem {
	r.t.Helper()
	a := r.must(status, method, path, body, headers...)
	require.Equal(r.t, "application/problem+json", a.header.Get("Content-Type"))
	p := into[jsonapi.Problem](r.t, a)
	require.Equal(r.t, status, p.Status)
	require.NotEmpty(r.t, p.Detail)
	require.Equal(r.t, http.StatusText(status), p.Title)
	return p
}

// An app from its first day to its last, through every route.
//
// spec: AUTH-01, AUTH-03, AUTH-05
func TestManagement(t *testing.T) {
	r := startOn(t, newSQLite(t))
	created := r.create(`{"name":"Shop","origins":["https://shop.example"]}`)
	require.Equal(t, shop, created.header.Get("Location"))
	etag := created.header.Get("ETag")
	view := into[app.View](t, created)
	require.Equal(t, "Shop", view.Name)
	require.False(t, view.CreatedAt.IsZero())

	got := r.must(http.StatusOK, http.MethodGet, shop, "")
	require.Equal(t, etag, got.header.Get("ETag"))
	require.JSONEq(t, created.text, got.text)

	replaced := r.must(http.StatusOK, http.MethodPut, shop, `{"name":"The shop","webhooks":[{"id":"w","url":"https://a.example"}]}`, "If-Match", etag)
	require.NotEqual(t, etag, replaced.header.Get("ETag"))
	require.Len(t, into[made](t, replaced).Secrets, 1)
	require.NotContains(t, r.must(http.StatusOK, http.MethodGet, shop, "").text, into[made](t, replaced).Secrets[0].Secret, "returned once")

	secret := r.must(http.StatusCreated, http.MethodPost, shop+"/secrets", `{"notAfter":"2100-01-01T00:00:00Z"}`)
	shown := into[app.Shown](t, secret)
	require.Equal(t, shop+"/secrets/"+shown.ID, secret.header.Get("Location"))
	changed := into[app.View](t, r.must(http.StatusOK, http.MethodPut, shop+"/secrets/"+shown.ID, `{"notAfter":"2101-01-01T00:00:00Z"}`))
	require.Equal(t, 2101, changed.Secrets[0].NotAfter.Year())
	key := r.must(http.StatusCreated, http.MethodPost, shop+"/keys", `{"algorithm":"HS256","keyID":"k:1"}`)
	require.Equal(t, shop+"/keys/k:1", key.header.Get("Location"))
	require.True(t, into[app.View](t, r.must(http.StatusOK, http.MethodPut, shop+"/keys/k:1", `{"disabled":true}`)).Keys[0].Disabled)
	require.False(t, into[app.View](t, r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"all":true}`)).RevokedBefore.IsZero())
	for _, text := range []string{shown.Secret, into[keyMade](t, key).Secret} {
		require.NotContains(t, r.must(http.StatusOK, http.MethodGet, shop, "").text, text)
	}
	require.Empty(t, r.must(http.StatusNoContent, http.MethodDelete, shop+"/keys/k:1", "").text)
	etag = r.must(http.StatusNoContent, http.MethodDelete, shop+"/secrets/"+shown.ID, "").header.Get("ETag")
	view = into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, ""))
	require.Empty(t, view.Keys)
	require.Empty(t, view.Secrets)
	r.must(http.StatusNoContent, http.MethodDelete, shop, "", "If-Match", etag)
	r.refused(http.StatusNotFound, http.MethodGet, shop, "")
	r.create(`{}`)
}

// The management API gives an app an interval of its own, which authentication has soon after;
// what is absent goes back to the receiver's.
//
// spec: STAT-01
func TestManagedStatsInterval(t *testing.T) {
	r := startOn(t, newSQLite(t))
	etag := r.must(http.StatusCreated, http.MethodPut, shop, `{"statsIntervalMs":2000}`, "If-None-Match", "*").header.Get("ETag")
	require.Equal(t, 2000, into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, "")).StatsIntervalMs)
	r.eventually("its interval", func(s auth.App, _ bool) bool { return s.StatsInterval == 2*time.Second })
	refused := r.refused(http.StatusUnprocessableEntity, http.MethodPut, shop, `{"statsIntervalMs":30000}`, "If-Match", etag)
	require.Equal(t, []string{"statsIntervalMs", "must be 0 (the receiver's own) or 2000 to 20000"}, []string{refused.Field, refused.Limit})
	r.must(http.StatusOK, http.MethodPut, shop, `{}`, "If-Match", etag)
	r.eventually("the receiver's", func(s auth.App, _ bool) bool { return s.StatsInterval == 0 })
}

// A token's file that does not exist is made, once.
func TestTokenFileIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "token")
	status := func(text string) int {
		r := startOn(t, newSQLite(t), func(c *Config) {
			c.Management.Get().Tokens = []TokenConfig{{Name: "ann", File: path}}
		})
		if text == "" {
			made, err := os.ReadFile(path)
			require.NoError(t, err)
			text = strings.TrimSpace(string(made))
		}
		req := httptest.NewRequest(http.MethodGet, "/api/v1/apps", nil)
		req.Header.Set("Authorization", "Bearer "+text)
		w := httptest.NewRecorder()
		r.management.handler().ServeHTTP(w, req)
		return w.Code
	}
	require.Equal(t, http.StatusOK, status(""))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	made, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status(strings.Repeat("x", 44)))
	require.Equal(t, http.StatusOK, status(strings.TrimSpace(string(made))), "the next start has the same")
}

// Who read an app before somebody else changed it changes nothing.
func TestConditions(t *testing.T) {
	r := startOn(t, newSQLite(t))
	r.refused(http.StatusPreconditionFailed, http.MethodPut, shop, `{}`, "If-Match", `"1"`)
	r.refused(http.StatusPreconditionRequired, http.MethodPut, shop, `{}`)
	etag := r.create(`{}`).header.Get("ETag")
	r.refused(http.StatusPreconditionFailed, http.MethodPut, shop, `{}`, "If-None-Match", "*")
	r.refused(http.StatusPreconditionRequired, http.MethodPut, shop, `{}`)
	r.refused(http.StatusPreconditionRequired, http.MethodDelete, shop, "")
	next := r.must(http.StatusOK, http.MethodPut, shop, `{"name":"1"}`, "If-Match", etag).header.Get("ETag")
	r.refused(http.StatusPreconditionFailed, http.MethodPut, shop, `{"name":"2"}`, "If-Match", etag)
	r.refused(http.StatusPreconditionFailed, http.MethodDelete, shop, "", "If-Match", etag)
	r.refused(http.StatusPreconditionFailed, http.MethodPost, shop+"/secrets", "", "If-Match", etag)
	r.refused(http.StatusPreconditionFailed, http.MethodPost, shop+"/secrets", "", "If-None-Match", "*")
	for _, bad := range []string{"12", `W/"12"`, `"x"`, `"1", "2"`, "", "*", `"0"`, `"-1"`} {
		r.refused(http.StatusBadRequest, http.MethodPut, shop, `{}`, "If-Match", bad)
	}
	r.refused(http.StatusBadRequest, http.MethodPut, shop, `{}`, "If-None-Match", `"1"`)
	r.refused(http.StatusBadRequest, http.MethodPut, shop, `{}`, "If-None-Match", `*`, "If-Match", next)
	r.refused(http.StatusBadRequest, http.MethodDelete, shop, "", "If-None-Match", `*`)
	require.Equal(t, "1", into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, "")).Name)
	r.must(http.StatusCreated, http.MethodPost, shop+"/secrets", "", "If-Match", next)
}

// Those who add secrets at the same time all get one.
func TestEditsAtOnce(t *testing.T) {
	store := newSQLite(t)
	a, b := startOn(t, store), startOn(t, store)
	a.create(`{}`)
	var wg sync.WaitGroup
	for n := range 4 {
		r := []*running{a, b}[n%2]
		wg.Go(func() {
			req := httptest.NewRequest(http.MethodPost, shop+"/secrets", nil)
			req.Header.Set("Authorization", "Bearer "+adminToken)
			w := httptest.NewRecorder()
			r.management.handler().ServeHTTP(w, req)
			if w.Code != http.StatusCreated {
				t.Error(w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	require.Len(t, into[app.View](t, a.must(http.StatusOK, http.MethodGet, shop, "")).Secrets, 4)
}

// Nothing is answered without a token, whatever is asked.
func TestTokens(t *testing.T) {
	r := startOn(t, newMemory())
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + adminToken, adminToken, "Bearer " + adminToken + "x", "Bearer " + adminToken[1:], "Bearer  " + adminToken} {
		for _, ask := range [][2]string{{http.MethodGet, "/api/v1/apps"}, {http.MethodPut, shop}, {http.MethodGet, "/nowhere"}, {http.MethodOptions, shop}} {
			p := r.refused(http.StatusUnauthorized, ask[0], ask[1], "", "Authorization", header)
			require.NotContains(t, p.Detail, "wrong")
			require.Equal(t, "Bearer", r.call(ask[0], ask[1], "", "Authorization", header).header.Get("WWW-Authenticate"))
		}
	}
	for _, good := range []string{"Bearer " + adminToken, "bearer " + otherToken} {
		r.must(http.StatusOK, http.MethodGet, "/api/v1/apps", "", "Authorization", good)
	}
	r.refused(http.StatusUnauthorized, http.MethodGet, "/api/v1/apps?access_token="+strings.ReplaceAll(adminToken, " ", "+"), "", "Authorization", "")
}

// No page of another origin may ask: there is no answer to a preflight, and no header that
// would let it read one. There is no cookie either.
func TestNoCORS(t *testing.T) {
	r := startOn(t, newMemory())
	check := func(a answer) {
		t.Helper()
		for name := range a.header {
			require.NotContains(t, strings.ToLower(name), "access-control")
		}
		require.Empty(t, a.header.Get("Set-Cookie"))
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
	}
	for _, origin := range []string{"https://evil.example", "null", "http://" + r.management.addr} {
		check(r.must(http.StatusUnauthorized, http.MethodOptions, shop, "", "Authorization", "", "Origin", origin,
			"Access-Control-Request-Method", http.MethodPut, "Access-Control-Request-Headers", "authorization"))
		check(r.must(http.StatusMethodNotAllowed, http.MethodOptions, shop, "", "Origin", origin, "Access-Control-Request-Method", http.MethodPut))
		check(r.must(http.StatusOK, http.MethodGet, "/api/v1/apps", "", "Origin", origin))
	}
}

// Refusals name the member, the limit and what came; limits are looked at before anything
// is decoded.
func TestRefusals(t *testing.T) {
	r := startOn(t, newMemory())
	create := []string{"If-None-Match", "*"}
	p := r.refused(http.StatusUnprocessableEntity, http.MethodPut, shop, `{"origins":["https://a.example/x"]}`, create...)
	require.Equal(t, jsonapi.Problem{
		Title: "Unprocessable Entity", Status: 422, Field: "origins[0]", Limit: "must be no more than scheme://host:port, in lower case",
		Got: `"https://a.example/x"`, Detail: `origins[0] must be no more than scheme://host:port, in lower case (got "https://a.example/x")`,
	}, p)
	require.Equal(t, "label", r.refused(http.StatusUnprocessableEntity, http.MethodPut, shop, `{"label":1}`, create...).Field)
	r.refused(http.StatusBadRequest, http.MethodPut, shop, `{"name":`, create...)
	r.refused(http.StatusBadRequest, http.MethodPut, shop, "", create...)
	r.refused(http.StatusUnsupportedMediaType, http.MethodPut, shop, `{}`, append(create, "Content-Type", "text/plain")...)
	r.refused(http.StatusUnsupportedMediaType, http.MethodPut, shop, `{}`, append(create, "Content-Type", "")...)
	r.refused(http.StatusRequestEntityTooLarge, http.MethodPut, shop, `{"name":"`+strings.Repeat("x", maxRequestBytes)+`"}`, create...)
	r.refused(http.StatusUnprocessableEntity, http.MethodPut, "/api/v1/apps/"+strings.Repeat("i", 257), `{}`, create...)
	require.Equal(t, "id", r.refused(http.StatusUnprocessableEntity, http.MethodPut, "/api/v1/apps/a%00b", `{}`, create...).Field)
	r.refused(http.StatusNotFound, http.MethodGet, "/", "")
	r.refused(http.StatusNotFound, http.MethodGet, shop+"/secrets/a/b", "")
	r.refused(http.StatusMethodNotAllowed, http.MethodPatch, shop, `{}`)
	r.refused(http.StatusMethodNotAllowed, http.MethodGet, shop+"/secrets", "")
	r.create(`{}`)
	r.refused(http.StatusNotFound, http.MethodDelete, shop+"/secrets/none", "")
	r.refused(http.StatusNotFound, http.MethodPut, shop+"/keys/none", `{}`)
	r.refused(http.StatusNotFound, http.MethodPost, "/api/v1/apps/none/revoke", `{"all":true}`)
	r.refused(http.StatusNotFound, http.MethodDelete, "/api/v1/apps/none", "", "If-Match", `"1"`)
	r.settings.(*memory).put(t, "broken", []byte("{"))
	require.Contains(t, r.refused(http.StatusInternalServerError, http.MethodGet, "/api/v1/apps/broken", "").Detail, "cannot be read")
	odd := "/api/v1/apps/a%2Fb%25%C3%BC%3F"
	require.Equal(t, odd, r.must(http.StatusCreated, http.MethodPut, odd, `{}`, create...).header.Get("Location"))
	require.Equal(t, "a/b%ü?", into[app.View](t, r.must(http.StatusOK, http.MethodGet, odd, "")).ID)
}

// What the configuration declares is shown and not changed.
func TestDeclaredIsReadOnly(t *testing.T) {
	r := startOn(t, newMemory(), func(c *Config) {
		c.Apps = []AppConfig{{ID: "shop", Settings: app.Settings{Name: "declared"}, Secrets: []configopaque.String{"hunter2"}}}
	})
	got := r.must(http.StatusOK, http.MethodGet, shop, "")
	view := into[app.View](t, got)
	require.True(t, view.Declared)
	require.Equal(t, "declared", view.Name)
	require.Len(t, view.Secrets, 1)
	require.NotContains(t, got.text, "hunter2")
	require.Empty(t, got.header.Get("ETag"))
	for _, route := range routes() {
		if route.method == http.MethodGet || strings.Contains(route.path, "/deliveries/") || strings.HasSuffix(route.path, "/test") ||
			strings.Contains(route.path, "/users/") { // deliveries and users are no part of the app's document
			continue
		}
		path := strings.NewReplacer("{app}", "shop", "{credential}", "x", "{webhook}", "x").Replace(route.path)
		for _, condition := range []string{"If-Match", "If-None-Match"} {
			p := r.refused(http.StatusConflict, route.method, path, `{}`, condition, `"1"`)
			require.Contains(t, p.Detail, "the collector's configuration declares this app: change it there")
		}
	}
}

// Pages of the list have every app once, of the configuration and of the store.
func TestList(t *testing.T) {
	r := startOn(t, newSQLite(t), func(c *Config) {
		for _, id := range []string{"a", "m", "z"} {
			c.Apps = append(c.Apps, AppConfig{ID: id, Settings: app.Settings{Name: "declared"}, Secrets: []configopaque.String{"s"}})
		}
	})
	var want []string
	put := func(id string) {
		body := stored(t, r, nil)
		_, err := r.put(t.Context(), id, app.New(id, r.keys, time.Now()), 0, time.Now())
		require.NoError(t, err)
		require.NotEmpty(t, body)
	}
	for _, id := range []string{"b", "c", "m", "n", "o"} { // m is declared too
		put(id)
	}
	want = []string{"a", "b", "c", "m", "n", "o", "z"}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		for path := fmt.Sprintf("/api/v1/apps?limit=%d", limit); path != ""; {
			p := into[page](t, r.must(http.StatusOK, http.MethodGet, path, ""))
			require.LessOrEqual(t, len(p.Apps), limit)
			for _, a := range p.Apps {
				got = append(got, a.ID)
				require.Equal(t, slices.Contains([]string{"a", "m", "z"}, a.ID), a.Declared)
			}
			path = ""
			if p.Next != "" {
				path = fmt.Sprintf("/api/v1/apps?limit=%d&after=%s", limit, p.Next)
			}
		}
		require.Equal(t, want, got, "limit %d", limit)
	}
	first := into[page](t, r.must(http.StatusOK, http.MethodGet, "/api/v1/apps?limit=2", "")).Apps
	require.Equal(t, listed{ID: "a", Name: "declared", Declared: true, Secrets: 1}, first[0])
	require.NotZero(t, first[1].CreatedAt)
	require.NotZero(t, first[1].Revision)
	for filter, found := range map[string]string{"B": "b", "declared": "a m z", "x": "", "n": "n", "DECLAR": "a m z"} {
		var got []string
		for _, a := range into[page](t, r.must(http.StatusOK, http.MethodGet, "/api/v1/apps?filter="+filter, "")).Apps {
			got = append(got, a.ID)
		}
		require.Equal(t, found, strings.Join(got, " "), filter)
	}
	for _, bad := range []string{"filter=" + strings.Repeat("a", 257), "limit=0", "limit=201", "limit=x", "limit=1&limit=2", "page=2", "after=" + strings.Repeat("a", 257)} {
		r.refused(http.StatusUnprocessableEntity, http.MethodGet, "/api/v1/apps?"+bad, "")
	}
	empty := startOn(t, newMemory())
	require.JSONEq(t, `{"apps":[]}`, empty.must(http.StatusOK, http.MethodGet, "/api/v1/apps", "").text)
}

// The audit log has who did what, and no secret.
func TestAudit(t *testing.T) {
	r := startOn(t, newMemory())
	r.create(`{"webhooks":[{"id":"w","url":"https://hooks.example/path","secret":"0123456789abcdef0123456789abcdef"}]}`)
	shown := into[app.Shown](t, r.must(http.StatusCreated, http.MethodPost, shop+"/secrets", "", "Authorization", "Bearer "+otherToken))
	key := into[keyMade](t, r.must(http.StatusCreated, http.MethodPost, shop+"/keys", `{"algorithm":"HS256"}`))
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"user":"alice@example.org"}`)
	etag := r.must(http.StatusNoContent, http.MethodDelete, shop+"/secrets/"+shown.ID, "").header.Get("ETag")
	r.must(http.StatusNoContent, http.MethodDelete, shop, "", "If-Match", etag)
	r.refused(http.StatusUnauthorized, http.MethodGet, shop, "", "Authorization", "Bearer a wrong token")

	var did []string
	for _, entry := range r.logs.FilterMessage("an app was changed").All() {
		require.Equal(t, "audit", entry.LoggerName)
		f := entry.ContextMap()
		require.Equal(t, "shop", f["app"])
		did = append(did, fmt.Sprint(f["by"], ": ", f["action"]))
	}
	require.Equal(t, []string{"ann: create", "bob: add secret", "ann: add key", "ann: revoke user", "ann: delete secret", "ann: delete"}, did)
	require.Equal(t, 1, r.logged("a request to the management API without a good token was refused"))
	for _, entry := range r.logs.All() {
		text := fmt.Sprint(entry.Message, entry.ContextMap())
		for _, secret := range []string{shown.Secret, key.Secret, adminToken, otherToken, "0123456789abcdef", "wrong token", "alice", "/path"} {
			require.NotContains(t, text, secret)
		}
	}
}

// Strangers cannot fill the log; all of them are counted.
func TestStrangersAreLoggedNowAndThen(t *testing.T) {
	r := startOn(t, newMemory())
	now := time.Now()
	ask := func(at time.Time) {
		w := httptest.NewRecorder()
		r.management.unauthorized(w, httptest.NewRequest(http.MethodGet, shop, nil), at)
		require.Equal(t, http.StatusUnauthorized, w.Code)
	}
	for range 1000 {
		ask(now)
	}
	const line = "a request to the management API without a good token was refused"
	require.Equal(t, strangerRate.Burst, r.logged(line))
	ask(now.Add(strangerRate.Interval))
	require.Equal(t, strangerRate.Burst+1, r.logged(line))

	const broken = "http: TLS handshake error"
	for range 1000 {
		r.management.server.ErrorLog.Print(broken)
	}
	n := r.logged("management API: " + broken)
	require.GreaterOrEqual(t, n, strangerRate.Burst)
	require.Less(t, n, 500, "of 1,000 in a moment")
}

// withoutUses are settings whose last uses cannot be read.
type withoutUses struct{ *memory }

func (m withoutUses) Setting(ctx context.Context, kind, id string) (storage.Setting, error) {
	if kind == kindUses {
		return storage.Setting{}, errors.New("the connection broke")
	}
	return m.memory.Setting(ctx, kind, id)
}

// A secret that is returned once is returned although something else cannot be read.
func TestSecretsAreReturnedWithoutLastUses(t *testing.T) {
	r := startOn(t, withoutUses{newMemory()})
	const hooks = `{"webhooks":[{"id":"a","url":"https://a.example"}]}`
	created := r.create(hooks)
	require.Len(t, into[made](t, created).Secrets, 1)
	replaced := r.must(http.StatusOK, http.MethodPut, shop, strings.ReplaceAll(hooks, `"a"`, `"b"`), "If-Match", created.header.Get("ETag"))
	require.Len(t, into[made](t, replaced).Secrets, 1)
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"all":true}`)
	require.Equal(t, 3, r.logged("a change was answered without the last uses of the app's credentials"))
	r.refused(http.StatusServiceUnavailable, http.MethodGet, shop, "")
}

func TestManagementTelemetry(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	m := newMemory()
	r := unstarted(t, telemetry.NewTelemetrySettings())
	require.NoError(t, r.Start(t.Context(), storeHost{componenttest.NewNopHost(), m}))
	etag := r.create(`{}`).header.Get("ETag")
	r.must(http.StatusOK, http.MethodGet, shop, "")
	r.refused(http.StatusUnauthorized, http.MethodGet, shop, "", "Authorization", "")
	r.refused(http.StatusUnprocessableEntity, http.MethodPut, shop, `{"x":1}`, "If-Match", etag)
	r.refused(http.StatusNotFound, http.MethodGet, "/x", "")
	r.refused(http.StatusPreconditionFailed, http.MethodPut, shop, `{}`, "If-Match", `"9"`)
	r.refused(http.StatusInternalServerError, http.MethodGet, "/api/v1/apps/"+damage(t, m), "")
	point := func(n int64, outcome string) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("outcome", outcome))}
	}
	metadatatest.AssertEqualQosappsManagementRequests(t, telemetry, []metricdata.DataPoint[int64]{
		point(2, "ok"), point(1, "unauthorized"), point(2, "refused"), point(1, "conflict"), point(1, "failed"),
	}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualQosappsLastUseDropped(t, telemetry, []metricdata.DataPoint[int64]{{Value: 0}}, metricdatatest.IgnoreTimestamp())
	age, err := telemetry.GetMetric("otelcol_qosapps_refresh_age")
	require.NoError(t, err)
	require.Less(t, age.Data.(metricdata.Gauge[float64]).DataPoints[0].Value, patience.Seconds())
}

func damage(t *testing.T, m *memory) string {
	t.Helper()
	m.put(t, "broken", []byte("{"))
	return "broken"
}

// FuzzManagement: whatever comes with a good token is answered by JSON of a status that the
// README names, and never by a panic.
func FuzzManagement(f *testing.F) {
	f.Add(http.MethodPut, "/api/v1/apps/a", `{"name":"x"}`, `*`, "")
	f.Add(http.MethodPost, "/api/v1/apps/shop/secrets", `{}`, "", "")
	f.Add(http.MethodPost, "/api/v1/apps/shop/keys", `{"algorithm":"HS256"}`, "", `"1"`)
	f.Add(http.MethodDelete, "/api/v1/apps/shop/keys/k", ``, "", `"1"`)
	f.Add(http.MethodPost, "/api/v1/apps/shop/revoke", `{"user":"a"}`, "", "")
	f.Add(http.MethodGet, "/api/v1/apps?limit=1&after=%ff", ``, "", "")
	f.Add(http.MethodGet, "/api/v1/apps/%2e%2e/x", ``, "", "")
	r := startOn(f, newMemory())
	r.create(`{}`)
	handler := r.management.handler()
	f.Fuzz(func(t *testing.T, method, path, body, none, match string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, io.NopCloser(bytes.NewReader([]byte(body))))
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		req.Header = http.Header{"Authorization": {"Bearer " + adminToken}, "Content-Type": {"application/json"}}
		if none != "" {
			req.Header.Set("If-None-Match", none)
		}
		if match != "" {
			req.Header.Set("If-Match", match)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		require.Contains(t, []int{200, 201, 204, 301, 307, 400, 404, 405, 409, 412, 413, 415, 422, 428, 500}, w.Code, w.Body.String())
		if w.Code != http.StatusNoContent && w.Code/100 != 3 {
			require.True(t, json.Valid(w.Body.Bytes()), w.Body.String())
		}
		if w.Code == http.StatusInternalServerError {
			require.Regexp(t, "cannot be read", w.Body.String())
		}
	})
}

// A filter reads a bounded number of apps in a request, and no app is missed or listed twice.
func TestListReadsABoundedNumber(t *testing.T) {
	settings := newMemory()
	r := startOn(t, settings, func(c *Config) {
		c.Apps = []AppConfig{{ID: "a-declared-needle", Secrets: []configopaque.String{"s"}}, {ID: "z-declared-needle", Secrets: []configopaque.String{"s"}}}
	})
	doc := app.New("x", r.keys, time.Now())
	want := []string{"a-declared-needle"}
	for i := range maxFiltered + 500 {
		id := fmt.Sprintf("app %04d", i)
		if i%1000 == 999 || i == maxFiltered+499 {
			id += " needle"
			want = append(want, id)
		}
		body, err := doc.Encode()
		require.NoError(t, err)
		_, err = settings.PutSetting(t.Context(), storage.Setting{Kind: kindApp, ID: id, ChangedAt: time.Now(), Body: body})
		require.NoError(t, err)
	}
	want = append(want, "z-declared-needle")
	for _, limit := range []int{1, 2, 200} {
		var got []string
		pages := 0
		for after := ""; pages == 0 || after != ""; pages++ {
			p := into[page](t, r.must(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/apps?filter=needle&limit=%d&after=%s", limit, url.QueryEscape(after)), ""))
			require.LessOrEqual(t, len(p.Apps), limit)
			for _, one := range p.Apps {
				got = append(got, one.ID)
			}
			after = p.Next
		}
		require.Equal(t, want, got, "limit %d", limit)
		require.Greater(t, pages, 1, "not all are read at once")
	}
}
