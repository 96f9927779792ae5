package appsextension

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/storage"
)

// withCredentials is an app with a secret s and a key k.
func withCredentials(a *app.App) {
	a.Secrets = []app.Secret{{SecretView: app.SecretView{ID: "s"}, StoredKey: make([]byte, 32), ServerKey: make([]byte, 32)}}
	a.Keys = []app.Key{{KeyView: app.KeyView{ID: "k", Algorithm: "none"}}}
}

// uses returns what the store has of the last uses of an app.
func (m *memory) uses(t *testing.T, appID string) app.LastUse {
	t.Helper()
	s, err := m.Setting(t.Context(), kindUses, appID)
	if errors.Is(err, storage.ErrNoSetting) {
		return nil
	}
	require.NoError(t, err)
	var out app.LastUse
	require.NoError(t, json.Unmarshal(s.Body, &out))
	return out
}

// However often a secret is used, by whichever collector, its last use is written once a
// minute at most, and no use waits for the store.
//
// spec: AUTH-01
func TestLastUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		a, b := startOn(t, m, withoutAPI), startOn(t, m, withoutAPI)
		m.put(t, "shop", stored(t, a, withCredentials))
		time.Sleep(2 * time.Second)
		begun := time.Now()
		for range 600 { // ten minutes
			for _, r := range []*running{a, b} {
				r.Used("shop", "s", time.Now())
				r.Used("shop", "no such secret", time.Now())
				r.Used("no such app", "s", time.Now())
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.LessOrEqual(t, m.writes[kindUses], 11)
		require.GreaterOrEqual(t, m.writes[kindUses], 5)
		used := m.uses(t, "shop")
		require.Len(t, used, 1)
		require.WithinDuration(t, begun.Add(10*time.Minute), used["s"], 2*time.Minute)

		// What cannot be written waits.
		time.Sleep(2 * time.Minute)
		m.fail(errors.New("away"))
		late := time.Now()
		a.Used("shop", "s", late)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.Equal(t, late.UTC(), a.uses.of("shop")["s"])
		require.Positive(t, a.logged("last uses of credentials could not be written and wait"))
		m.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, late.UTC(), m.uses(t, "shop")["s"])
		require.Empty(t, a.uses.of("shop"))

		// At the end what waits is written.
		time.Sleep(2 * time.Minute)
		end := time.Now()
		b.Used("shop", "s", end)
		require.NoError(t, a.Shutdown(t.Context()))
		require.NoError(t, b.Shutdown(t.Context()))
		require.Equal(t, end.UTC(), m.uses(t, "shop")["s"])
	})
}

// People see the last use at once where it was made, and it goes with the app.
//
// spec: AUTH-01
func TestLastUseIsShown(t *testing.T) {
	m := newMemory()
	r := startOn(t, m, func(c *Config) {
		c.Apps = []AppConfig{{ID: "declared", Secrets: []configopaque.String{"s"}}}
	})
	m.put(t, "shop", stored(t, r, withCredentials))
	require.Eventually(t, func() bool { _, ok := r.App("shop"); return ok }, patience, time.Millisecond)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.Used("shop", "s", at)
	r.Used("shop", "s", at.Add(-time.Hour))
	seen := func(path string) time.Time {
		return into[app.View](t, r.must(http.StatusOK, http.MethodGet, path, "")).Secrets[0].LastUsedAt
	}
	require.Equal(t, at, seen(shop))
	r.writeUses(t.Context())
	require.Equal(t, at, seen(shop))
	s, _ := r.App("declared")
	r.Used("declared", s.Verifiers[0].ID, at)
	r.writeUses(t.Context())
	require.Equal(t, at, seen("/api/v1/apps/declared"))

	etag := r.must(http.StatusOK, http.MethodGet, shop, "").header.Get("ETag")
	r.must(http.StatusNoContent, http.MethodDelete, shop, "", "If-Match", etag)
	require.Nil(t, m.uses(t, "shop"))
	require.NotNil(t, m.uses(t, "declared"))
}

// What waits is bounded.
func TestLastUsesAreBounded(t *testing.T) {
	u := newUses()
	for i := range maxUses + 5 {
		u.note(strconv.Itoa(i), "s", time.Now())
	}
	require.EqualValues(t, 5, u.dropped.Load())
	require.Len(t, u.take(), maxUses)
	require.Empty(t, u.take())
}
