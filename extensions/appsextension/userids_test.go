package appsextension

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// replace puts an app in place of its newest revision.
func (r *running) replace(status int, body string) answer {
	r.t.Helper()
	return r.must(status, http.MethodPut, shop, body, "If-Match", r.must(http.StatusOK, http.MethodGet, shop, "").header.Get("ETag"))
}

// hashingIsShared makes an app hash by one extension. Another with the same store makes the same pseudonyms.
func hashingIsShared(t *testing.T, one, other storage.Settings) {
	t.Helper()
	a, b := startOn(t, one), startOn(t, other)
	a.create(`{"userIDs":"hash"}`)
	hashes := func(s auth.App, ok bool) bool { return ok && s.Recorded() != nil }
	a.eventually("hashing", hashes)
	b.eventually("hashing", hashes)
	first, _ := a.App("shop")
	second, _ := b.App("shop")
	ann := first.Pseudonyms.ID("ann")
	require.Equal(t, ann, second.Pseudonyms.ID("ann"))
	require.Equal(t, []string{"ann", ann}, b.StoredUserIDs("shop", "ann"))
	require.Equal(t, []string{"ann"}, b.StoredUserIDs("other", "ann"))
	require.Equal(t, []string{"shop"}, b.PseudonymApps())

	again := startOn(t, other)
	s, _ := again.App("shop")
	require.Equal(t, ann, s.Pseudonyms.ID("ann"), "after a start")
}

// spec: PRIV-02
func TestHashingIsShared(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		store := newSQLite(t)
		hashingIsShared(t, store, store)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := postgrestest.Own(t).Database(t)
		hashingIsShared(t, openPostgres(t, dsn), openPostgres(t, dsn))
	})
}

// The key stays when an app records plain IDs again, so that its pseudonyms are found, and the same later. A new key
// makes new pseudonyms; the older ones are found.
//
// spec: PRIV-02
func TestHashingIsSwitched(t *testing.T) {
	r := startOn(t, newSQLite(t))
	view := into[app.View](t, r.create(`{"name":"Shop"}`))
	require.Equal(t, "plain", view.UserIDs)
	r.eventually("the app", func(_ auth.App, ok bool) bool { return ok })
	require.Empty(t, r.PseudonymApps())
	refused := r.must(http.StatusUnprocessableEntity, http.MethodPost, shop+"/user-id-key", "")
	require.Contains(t, refused.text, "userIDs must be hash")

	require.Equal(t, "hash", into[app.View](t, r.replace(http.StatusOK, `{"userIDs":"hash"}`)).UserIDs)
	r.eventually("hashing", func(s auth.App, _ bool) bool { return s.Recorded() != nil })
	before, _ := r.App("shop")
	refused = r.replace(http.StatusUnprocessableEntity, `{"name":"Shop"}`)
	require.Contains(t, refused.text, "userIDs must be there: the app hashes user IDs")
	r.replace(http.StatusUnprocessableEntity, `{"userIDs":"sha1"}`)
	r.replace(http.StatusUnprocessableEntity, `{"userIDs":"hash","userIDKeys":["x"]}`)

	r.replace(http.StatusOK, `{"userIDs":"plain"}`)
	r.eventually("plain IDs", func(s auth.App, _ bool) bool { return s.Recorded() == nil })
	require.Equal(t, []string{"shop"}, r.PseudonymApps(), "they are searched for")
	r.replace(http.StatusOK, `{"userIDs":"hash"}`)
	r.eventually("hashing", func(s auth.App, _ bool) bool { return s.Recorded().Equal(before.Recorded()) })

	r.must(http.StatusOK, http.MethodPost, shop+"/user-id-key", "")
	r.eventually("a new key", func(s auth.App, _ bool) bool { return !s.Recorded().Equal(before.Recorded()) })
	now, _ := r.App("shop")
	require.Equal(t, []string{"ann", now.Pseudonyms.ID("ann"), before.Pseudonyms.ID("ann")}, r.StoredUserIDs("shop", "ann"))
	require.NotEqual(t, now.Pseudonyms.ID("ann"), before.Pseudonyms.ID("ann"))
	for range pseudonym.MaxKeys - 2 {
		r.must(http.StatusOK, http.MethodPost, shop+"/user-id-key", "{}")
	}
	refused = r.must(http.StatusUnprocessableEntity, http.MethodPost, shop+"/user-id-key", "")
	require.Contains(t, refused.text, "userIDKeys must have at most 8 entries")
}

// No answer and no line of the log has a key, and the store has it sealed.
//
// spec: PRIV-02
func TestKeysOfPseudonymsStayInside(t *testing.T) {
	store := newSQLite(t)
	r := startOn(t, store)
	texts := []string{r.create(`{"userIDs":"hash"}`).text, r.must(http.StatusOK, http.MethodPost, shop+"/user-id-key", "").text}
	texts = append(texts, r.must(http.StatusOK, http.MethodGet, shop, "").text, r.must(http.StatusOK, http.MethodGet, "/api/v1/apps", "").text)
	kept, err := store.Setting(t.Context(), kindApp, "shop")
	require.NoError(t, err)
	doc, err := app.Decode(kept.Body)
	require.NoError(t, err)
	require.Len(t, doc.UserIDKeys, 2)
	for _, line := range r.logs.All() {
		texts = append(texts, line.Message, strings.Join(valuesOf(line.ContextMap()), " "))
	}
	texts = append(texts, string(kept.Body))
	for _, sealed := range doc.UserIDKeys {
		key, newest, err := r.vault.Open("users\x00shop", sealed)
		require.NoError(t, err)
		require.True(t, newest)
		require.Len(t, key, pseudonym.KeyBytes)
		for i, text := range texts {
			require.NotContains(t, text, base64.StdEncoding.EncodeToString(key))
			require.NotContains(t, text, string(key))
			require.Equal(t, i == len(texts)-1, strings.Contains(text, sealed), "the document alone has the seal")
		}
	}
	_, _, err = r.vault.Open("users\x00other", doc.UserIDKeys[0])
	require.Error(t, err, "a key cannot be moved to another app")
}

func valuesOf(fields map[string]any) (texts []string) {
	for _, v := range fields {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// A user whose tokens are revoked is kept as the pseudonym, also one from before, and is refused by the ID.
//
// spec: PRIV-02
func TestRevocationsAreHashed(t *testing.T) {
	r := startOn(t, newSQLite(t))
	r.create(`{}`)
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"user":"early"}`)
	r.replace(http.StatusOK, `{"userIDs":"hash"}`)
	r.eventually("hashing", func(s auth.App, _ bool) bool { return s.Recorded() != nil })
	s, _ := r.App("shop")
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"user":"ann"}`)
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"user":"`+s.Pseudonyms.ID("bob")+`"}`)
	r.eventually("revocations", func(s auth.App, _ bool) bool { return len(s.RevokedUsers) == 3 })
	view := into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, ""))
	for _, user := range []string{"early", "ann", "bob"} {
		require.Contains(t, view.RevokedUsers, s.Pseudonyms.ID(user))
		require.NotContains(t, view.RevokedUsers, user)
	}
}

// An app whose key cannot be opened admits nobody while it hashes: records never have the IDs in place of pseudonyms.
//
// spec: PRIV-02
func TestHashingNeedsItsKey(t *testing.T) {
	store := newSQLite(t)
	r := startOn(t, store)
	r.create(`{"userIDs":"hash"}`)
	r.must(http.StatusCreated, http.MethodPost, shop+"/secrets", "")
	other := startOn(t, store, func(c *Config) { c.Key = masterKey(2) })
	s, ok := other.App("shop")
	require.True(t, ok)
	require.True(t, s.Disabled)
	require.Equal(t, 1, other.logged("a key of an app's pseudonyms cannot be used: the master key that sealed it is gone, or it is damaged"))
	refused := other.must(http.StatusUnprocessableEntity, http.MethodPost, shop+"/revoke", `{"user":"ann"}`)
	require.Contains(t, refused.text, "userIDs must have a key that can be opened")
	other.must(http.StatusOK, http.MethodPost, shop+"/user-id-key", "")
	other.eventually("a new key", func(s auth.App, _ bool) bool { return !s.Disabled && s.Recorded() != nil })

	rolled := startOn(t, store, func(c *Config) { c.Key, c.Keys = "", []MasterKeyConfig{{Key: masterKey(2)}, {Key: masterKey(1)}} })
	s, _ = rolled.App("shop")
	require.False(t, s.Disabled)
	require.Len(t, s.Pseudonyms.All("ann"), 2)
}

// An app of the configuration has its keys there or in files, and follows a file that changes.
//
// spec: PRIV-02
func TestDeclaredHashing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.key")
	write := func(fill byte) {
		require.NoError(t, os.WriteFile(file, []byte(masterKey(fill)+"\n"), 0o600))
		require.NoError(t, os.Chtimes(file, time.Time{}, time.Unix(int64(fill), 0)))
	}
	change := func(c *Config) {
		c.Apps = []AppConfig{{ID: "shop", Settings: app.Settings{UserIDs: "hash"}, Secrets: []configopaque.String{"s"}, UserIDKeys: []MasterKeyConfig{{File: file}, {Key: masterKey(7)}}}}
	}
	missing := unstarted(t, componenttest.NewNopTelemetrySettings(), change)
	require.ErrorContains(t, missing.Start(t.Context(), storeHost{componenttest.NewNopHost(), newSQLite(t)}), "apps[0].user_id_keys[0].key_file: ")
	write(3)
	r := startOn(t, newSQLite(t), change)
	keys := func(fills ...byte) *pseudonym.Keys {
		var secrets [][]byte
		for _, fill := range fills {
			secrets = append(secrets, slices.Repeat([]byte{fill}, 32))
		}
		return pseudonym.New("shop", secrets...)
	}
	s, _ := r.App("shop")
	require.True(t, s.Recorded().Equal(keys(3, 7)))
	write(4)
	r.eventually("the next key", func(s auth.App, _ bool) bool { return s.Recorded().Equal(keys(4, 7)) })
	require.Equal(t, "hash", into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, "")).UserIDs)
}

// spec: PRIV-02
func TestUserIDsConfig(t *testing.T) {
	good := map[string]any{"key": string(masterKey(1))}
	for _, c := range []struct {
		mode string
		keys []any
		want string
	}{
		{"", nil, ""},
		{"plain", nil, ""},
		{"hash", []any{good}, ""},
		{"plain", []any{good}, ""},
		{"hash", []any{map[string]any{"key_file": "/k"}, good}, ""},
		{"hash", nil, "apps[0].user_id_keys: at least one is required where user_ids is hash"},
		{"sha1", nil, `apps[0].user_ids must be plain or hash (got "sha1")`},
		{"hash", []any{map[string]any{}}, "apps[0].user_id_keys[0]: a key or a key_file is required"},
		{"hash", []any{map[string]any{"key": "c2hvcnQ="}}, "apps[0].user_id_keys[0]: must be at least 32 bytes in base64 (got 5)"},
		{"hash", slices.Repeat([]any{good}, 9), "apps[0].user_id_keys must have at most 8 entries (got 9)"},
	} {
		_, err := load(t, map[string]any{"key_file": "/k", "apps": []any{map[string]any{"id": "a", "secrets": []any{"s"}, "user_ids": c.mode, "user_id_keys": c.keys}}})
		if c.want == "" {
			require.NoError(t, err, c)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}
