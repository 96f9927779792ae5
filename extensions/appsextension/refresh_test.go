package appsextension

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
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
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// patience is for what other processes do.
const patience = time.Minute

// eventually waits until an extension shows what is wanted.
func (r *running) eventually(what string, is func(auth.App, bool) bool) {
	r.t.Helper()
	begun := time.Now()
	require.Eventually(r.t, func() bool { return is(r.App("shop")) }, patience, 2*time.Millisecond, what)
	r.t.Logf("%s: in force after %s", what, time.Since(begun).Round(time.Millisecond))
}

// changesReachAll edits by one extension and looks at another that has the same store.
func changesReachAll(t *testing.T, one, other storage.Settings) {
	t.Helper()
	a, b := startOn(t, one), startOn(t, other)
	revision := b.Revision()
	a.create(`{"origins":["https://a.example"]}`)
	b.eventually("an app", func(s auth.App, ok bool) bool {
		return ok && s.OriginAllowed("https://a.example") && !s.OriginAllowed("https://b.example")
	})
	require.Greater(t, b.Revision(), revision)
	shown := into[app.Shown](t, a.must(http.StatusCreated, http.MethodPost, "/api/v1/apps/shop/secrets", ""))
	b.eventually("a secret", func(s auth.App, _ bool) bool {
		return len(s.Verifiers) == 1 && bytes.Equal(s.Verifiers[0].StoredKey, auth.NewVerifier(shown.Secret, s.Salt, s.Iterations).StoredKey)
	})
	s, _ := b.App("shop")
	require.Equal(t, b.Keys().Salt("shop"), s.Salt, "an unknown app would have the same")
	require.Equal(t, shown.ID, s.Verifiers[0].ID)

	b.must(http.StatusCreated, http.MethodPost, "/api/v1/apps/shop/keys", `{"algorithm":"HS256","keyID":"k"}`)
	a.eventually("a key, the other way", func(s auth.App, _ bool) bool { return len(s.Keys) == 1 && len(s.Keys[0].Secret) == 43 })
	a.must(http.StatusOK, http.MethodPost, "/api/v1/apps/shop/revoke", `{"user":"alice"}`)
	b.eventually("a revocation", func(s auth.App, _ bool) bool { return !s.RevokedUsers["alice"].IsZero() })
	revision = b.Revision()
	a.must(http.StatusNoContent, http.MethodDelete, "/api/v1/apps/shop", "", "If-Match", a.must(http.StatusOK, http.MethodGet, "/api/v1/apps/shop", "").header.Get("ETag"))
	b.eventually("the end of an app", func(_ auth.App, ok bool) bool { return !ok })
	require.Greater(t, b.Revision(), revision)
}

// spec: AUTH-01, AUTH-03, AUTH-05
func TestChangesReachAll(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		store := newSQLite(t)
		changesReachAll(t, store, store)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := postgrestest.Own(t).Database(t)
		changesReachAll(t, openPostgres(t, dsn), openPostgres(t, dsn))
	})
}

func openPostgres(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// While the database is away all goes on with what is known; edits are refused, and
// nothing waits.
//
// spec: AUTH-01, SRV-03
func TestStoreAway(t *testing.T) {
	t.Parallel()
	server := postgrestest.Own(t)
	dsn := server.Database(t)
	r := startOn(t, openPostgres(t, dsn))
	r.create(`{}`)
	r.eventually("an app", func(_ auth.App, ok bool) bool { return ok })
	server.Stop()
	const lost, found = "apps cannot be brought up to date; those that are known go on", "apps are up to date again"
	require.Eventually(t, func() bool { return r.logged(lost) == 1 }, patience, time.Millisecond)
	_, ok := r.App("shop")
	require.True(t, ok)
	refused := r.must(http.StatusServiceUnavailable, http.MethodPost, "/api/v1/apps/shop/secrets", "")
	require.Equal(t, "application/problem+json", refused.header.Get("Content-Type"))
	require.NotContains(t, refused.text, postgrestest.Password)
	require.NoError(t, server.Start())
	require.Eventually(t, func() bool { return r.logged(found) == 1 }, patience, time.Millisecond)
	r.must(http.StatusCreated, http.MethodPost, "/api/v1/apps/shop/secrets", "")
	r.eventually("a secret", func(s auth.App, _ bool) bool { return len(s.Verifiers) == 1 })
	require.Equal(t, 1, r.logged(lost), "once")
	for _, entry := range r.logs.All() {
		require.NotContains(t, fmt.Sprint(entry), postgrestest.Password)
	}
}

// stored is the document of an app with one secret, as another collector may write it.
func stored(tb testing.TB, r *running, change func(*app.App)) []byte {
	tb.Helper()
	a := app.New("shop", r.keys, time.Now())
	if change != nil {
		change(a)
	}
	body, err := a.Encode()
	require.NoError(tb, err)
	return body
}

// put writes an app past the API.
func (m *memory) put(tb testing.TB, id string, body []byte) {
	tb.Helper()
	have, _ := m.Setting(tb.Context(), kindApp, id)
	_, err := m.PutSetting(tb.Context(), storage.Setting{Kind: kindApp, ID: id, Revision: have.Revision, ChangedAt: time.Now(), Body: body})
	require.NoError(tb, err)
}

// A change is in force within 2 s, of a clock that the test owns, and so is one that is
// made while the store hangs, once it answers.
//
// spec: AUTH-01
func TestWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		r := startOn(t, m, withoutAPI)
		known := func() bool {
			synctest.Wait()
			_, ok := r.App("shop")
			return ok
		}
		time.Sleep(100 * time.Millisecond) // anywhere between two polls
		m.put(t, "shop", stored(t, r, nil))
		require.False(t, known())
		time.Sleep(2 * time.Second)
		require.True(t, known())

		m.silent(true)
		time.Sleep(30 * time.Second)
		require.True(t, known(), "the last that is known")
		require.Equal(t, 1, r.logged("apps cannot be brought up to date; those that are known go on"))
		require.InDelta(t, 30, r.age(time.Now()).Seconds(), 3)
		have, err := m.Setting(t.Context(), kindApp, "shop")
		require.NoError(t, err)
		require.NoError(t, m.DeleteSetting(t.Context(), kindApp, "shop", have.Revision))
		m.silent(false)
		time.Sleep(pollTimeout + 2*time.Second)
		require.False(t, known())
		require.NoError(t, r.Shutdown(t.Context()))
	})
}

// A secret ends by itself, and so does what follows from it.
//
// spec: AUTH-01
func TestSecretsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		r := startOn(t, m, withoutAPI)
		m.put(t, "shop", stored(t, r, func(a *app.App) {
			for _, minutes := range []int{10, 20, 0} {
				_, err := a.AddSecret([]byte(`{}`), time.Now())
				require.NoError(t, err)
				if minutes > 0 {
					a.Secrets[len(a.Secrets)-1].NotAfter = time.Now().Add(time.Duration(minutes) * time.Minute)
				}
			}
		}))
		time.Sleep(2 * time.Second)
		f := func(want int) {
			t.Helper()
			synctest.Wait()
			s, _ := r.App("shop")
			require.Len(t, s.Verifiers, want)
		}
		f(3)
		revision := r.Revision()
		time.Sleep(9 * time.Minute)
		f(3)
		require.Equal(t, revision, r.Revision(), "nothing changed")
		time.Sleep(time.Minute)
		f(2)
		require.Equal(t, revision+1, r.Revision())
		time.Sleep(10 * time.Minute)
		f(1)
		require.NoError(t, r.Shutdown(t.Context()))
	})
}

// What cannot be read stays as it was; a store that was restored from a copy is read anew.
func TestDamagedAndRestored(t *testing.T) {
	t.Parallel()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	m := newMemory()
	r := unstarted(t, telemetry.NewTelemetrySettings(), withoutAPI)
	require.NoError(t, r.Start(t.Context(), storeHost{componenttest.NewNopHost(), m}))
	count := func(n int64) {
		t.Helper()
		metadatatest.AssertEqualQosappsUnreadableDocuments(t, telemetry, []metricdata.DataPoint[int64]{{Value: n}}, metricdatatest.IgnoreTimestamp())
	}
	count(0)
	m.put(t, "shop", stored(t, r, func(a *app.App) { a.Name = "as it was" }))
	m.put(t, "other", []byte("damaged"))
	r.eventually("an app", func(_ auth.App, ok bool) bool { return ok })
	m.put(t, "shop", []byte(`{"version":99}`))
	require.Eventually(t, func() bool { return r.logged("an app in the store cannot be read and stays as it was") == 2 }, patience, time.Millisecond)
	_, ok := r.App("shop")
	require.True(t, ok)
	_, ok = r.App("other")
	require.False(t, ok)
	require.Eventually(t, func() bool { return r.now.Load().unusable == 2 }, patience, time.Millisecond)
	count(2)

	restored := newMemory()
	restored.put(t, "old", stored(t, r, nil))
	m.mu.Lock()
	m.held, m.revision = restored.held, restored.revision
	m.mu.Unlock()
	require.Eventually(t, func() bool { _, ok := r.App("old"); return ok }, patience, time.Millisecond)
	_, ok = r.App("shop")
	require.False(t, ok)
	point := func(n int64, source string) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("source", source))}
	}
	metadatatest.AssertEqualQosappsApps(t, telemetry, []metricdata.DataPoint[int64]{point(0, "configuration"), point(1, "store")}, metricdatatest.IgnoreTimestamp())
	m.fail(errors.New("away"))
	require.Eventually(t, func() bool {
		got, err := telemetry.GetMetric("otelcol_qosapps_refresh_failures")
		return err == nil && got.Data.(metricdata.Sum[int64]).DataPoints[0].Value > 1
	}, patience, 10*time.Millisecond)
	m.fail(nil)
}

// The configuration goes before the store, and says so where both have an app.
//
// spec: AUTH-01
func TestDeclaredGoesFirst(t *testing.T) {
	m := newMemory()
	r := startOn(t, m, func(c *Config) {
		c.Apps = []AppConfig{{ID: "shop", Settings: app.Settings{Name: "declared", Limits: auth.Limits{Connections: 7}}, Secrets: []configopaque.String{"s"}, StatsInterval: 4 * time.Second}}
	})
	m.put(t, "shop", stored(t, r, nil))
	m.put(t, "z", stored(t, r, nil))
	require.Eventually(t, func() bool { _, ok := r.App("z"); return ok }, patience, time.Millisecond)
	s, _ := r.App("shop")
	require.Len(t, s.Verifiers, 1)
	require.Equal(t, 7, s.Limits.Connections)
	require.Equal(t, 4*time.Second, s.StatsInterval)
	require.Len(t, r.now.Load().apps, 2)
}

// Files of the configuration are read again when they change; one that is wrong leaves all
// as it was.
//
// spec: AUTH-01, AUTH-05
func TestFilesChange(t *testing.T) {
	dir := t.TempDir()
	secret, shared, token := filepath.Join(dir, "secret"), filepath.Join(dir, "shared"), filepath.Join(dir, "token")
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	const long = "0123456789abcdef0123456789abcdef"
	write(secret, "one\n")
	write(shared, long+"\n")
	write(token, "a token of a file, of 32 bytes or more\n")
	r := startOn(t, newMemory(), func(c *Config) {
		c.Apps = []AppConfig{{
			ID: "shop", NamedSecrets: []SecretConfig{{ID: "main", File: secret}, {ID: "spare", Secret: "spare", NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}},
			Keys: []KeyConfig{{ID: "k", Algorithm: auth.AlgorithmHS256, SecretFile: shared}},
		}}
		c.Management.Get().Tokens = append(c.Management.Get().Tokens, TokenConfig{Name: "file", File: token})
	})
	admits := func(text string) func(auth.App, bool) bool {
		return func(s auth.App, _ bool) bool {
			return bytes.Equal(s.Verifiers[0].StoredKey, auth.NewVerifier(text, s.Salt, s.Iterations).StoredKey)
		}
	}
	s, ok := r.App("shop")
	require.True(t, ok && admits("one")(s, ok))
	require.Equal(t, "main", s.Verifiers[0].ID)
	require.Equal(t, long, string(s.Keys[0].Secret))
	r.must(http.StatusOK, http.MethodGet, "/api/v1/apps", "", "Authorization", "Bearer a token of a file, of 32 bytes or more")

	require.NoError(t, os.WriteFile(secret, []byte("two\n"), 0o600), "in place")
	r.eventually("a secret's file", admits("two"))
	write(shared, "too short")
	require.Eventually(t, func() bool {
		return r.logged("apps cannot be brought up to date; those that are known go on") == 1
	}, patience, time.Millisecond)
	s, _ = r.App("shop")
	require.Equal(t, long, string(s.Keys[0].Secret))
	for _, entry := range r.logs.All() {
		require.NotContains(t, fmt.Sprint(entry), "too short")
	}
	require.NoError(t, os.Remove(secret))
	write(shared, long+long)
	write(token, "the next token of a file, of 32 bytes")
	require.Eventually(t, func() bool {
		return r.call(http.MethodGet, "/api/v1/apps", "", "Authorization", "Bearer the next token of a file, of 32 bytes").status == http.StatusOK
	}, patience, 10*time.Millisecond)
	s, _ = r.App("shop")
	require.Equal(t, long, string(s.Keys[0].Secret), "all or nothing: the other file is gone")
	write(secret, "three\n")
	r.eventually("both files", func(s auth.App, ok bool) bool { return admits("three")(s, ok) && string(s.Keys[0].Secret) == long+long })
	require.Equal(t, 1, r.logged("apps are up to date again"))
}

func TestStartFails(t *testing.T) {
	f := func(want string, host storeHost, change ...func(*Config)) {
		t.Helper()
		r := unstarted(t, componenttest.NewNopTelemetrySettings(), change...)
		require.ErrorContains(t, r.Start(t.Context(), host), want)
		require.NoError(t, r.Shutdown(t.Context()))
		require.NoError(t, r.Shutdown(t.Context()), "twice")
	}
	nop := componenttest.NewNopHost()
	away := newMemory()
	away.fail(errors.New("away"))
	f("storage: away", storeHost{nop, away})
	damaged := newMemory()
	_, err := damaged.PutSetting(t.Context(), storage.Setting{Kind: kindInstallation, ID: idSalt, Body: []byte("{}")})
	require.NoError(t, err)
	f("installation/salt is damaged", storeHost{nop, damaged})
	f(`extension "qosstorage" has not been started`, storeHost{nop, nil})
	f("apps[0].named_secrets[0]: stat", storeHost{nop, newMemory()}, func(c *Config) {
		c.Apps = []AppConfig{{ID: "a", NamedSecrets: []SecretConfig{{File: filepath.Join(t.TempDir(), "none")}}}}
	})
	f("management: tokens[0]: ", storeHost{nop, newMemory()}, func(c *Config) {
		c.Management.Get().Tokens = []TokenConfig{{Name: "a", File: t.TempDir()}}
	})
	r := unstarted(t, componenttest.NewNopTelemetrySettings())
	require.ErrorContains(t, r.Start(t.Context(), nop), `extension "qosstorage" is not there`)
	require.Equal(t, storeID, r.Dependencies()[0])
}

// Master keys roll: salts stay, what was sealed is sealed anew, and then the old key may go.
//
// spec: AUTH-01, AUTH-02, AUTH-05
func TestMasterKeysRoll(t *testing.T) {
	store := newSQLite(t)
	keys := func(fills ...byte) func(*Config) {
		return func(c *Config) {
			c.Key = ""
			for _, fill := range fills {
				c.Keys = append(c.Keys, MasterKeyConfig{Key: masterKey(fill)})
			}
		}
	}
	first := startOn(t, store, keys(1))
	first.create(`{"webhooks":[{"id":"w","url":"https://a.example"}]}`)
	secret := into[app.Shown](t, first.must(http.StatusCreated, http.MethodPost, "/api/v1/apps/shop/secrets", "")).Secret
	key := into[keyMade](t, first.must(http.StatusCreated, http.MethodPost, "/api/v1/apps/shop/keys", `{"algorithm":"HS256"}`)).Secret
	salt := first.Keys().Salt("nobody")
	require.NoError(t, first.Shutdown(t.Context()))

	good := func(r *running) {
		t.Helper()
		s, ok := r.App("shop")
		require.True(t, ok)
		require.Equal(t, salt, r.Keys().Salt("nobody"))
		require.Equal(t, r.Keys().Salt("shop"), s.Salt)
		require.Equal(t, auth.NewVerifier(secret, s.Salt, s.Iterations).StoredKey, s.Verifiers[0].StoredKey)
		require.Equal(t, key, string(s.Keys[0].Secret))
		require.NoError(t, r.Shutdown(t.Context()))
	}
	good(startOn(t, store, keys(1, 2)))
	rolled := startOn(t, store, keys(2, 1))
	require.Equal(t, 1, rolled.logged("sealed the secrets of an app with the newest key"))
	good(rolled)
	good(startOn(t, store, keys(2)))

	lost := startOn(t, store, keys(3))
	require.Equal(t, 1, lost.logged("a verification key cannot be used: the master key that sealed it is gone, or it is damaged"))
	s, _ := lost.App("shop")
	require.Empty(t, s.Keys)
	require.Len(t, s.Verifiers, 1, "AppSecrets need no key")
}

// many is a registry of that many apps of a store.
func many(tb testing.TB, n int) *running {
	tb.Helper()
	store := newSQLite(tb)
	first := startOn(tb, store, withoutAPI)
	body := stored(tb, first, func(a *app.App) {
		a.Origins = []string{"https://a.example"}
		a.Secrets = []app.Secret{{SecretView: app.SecretView{ID: "s"}, StoredKey: make([]byte, 32), ServerKey: make([]byte, 32)}}
	})
	for i := range n {
		_, err := store.PutSetting(tb.Context(), storage.Setting{Kind: kindApp, ID: fmt.Sprint("app ", i), Body: body})
		require.NoError(tb, err)
	}
	return startOn(tb, store, withoutAPI)
}

// App is asked for every message of every handshake, and Revision each second.
func TestAppAllocatesNothing(t *testing.T) {
	r := many(t, 10)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s, ok := r.App("app 7"); !ok || !s.OriginAllowed("https://a.example") {
			t.Error("it is there")
		}
		if _, ok := r.App("nobody"); ok {
			t.Error("it is not there")
		}
		_ = r.Revision()
	}))
}

func BenchmarkApp(b *testing.B) {
	r := many(b, 10_000)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok := r.App("app 5000"); !ok {
				b.Error("it is there")
			}
		}
	})
}

// BenchmarkRefresh is one change among 10,000 apps, and none.
func BenchmarkRefresh(b *testing.B) {
	r := many(b, 10_000)
	r.cancel()
	r.wg.Wait()
	have, err := r.settings.Setting(b.Context(), kindApp, "app 5000")
	require.NoError(b, err)
	b.Run("nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.refresh(b.Context(), time.Now())
		}
	})
	b.Run("one app", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			have.Revision, err = r.settings.PutSetting(b.Context(), have)
			if err != nil {
				b.Fatal(err)
			}
			r.refresh(b.Context(), time.Now())
		}
	})
}
