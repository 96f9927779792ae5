package appsextension

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/storage"
)

// limited is an app that may store 1 MiB a day.
func limited(a *app.App) { a.Limits.DailyMiB = 1 }

// bytes returns what the store has of the bytes of an app in the day.
func (m *memory) bytes(t *testing.T, appID string) (d dayBytes) {
	t.Helper()
	s, err := m.Setting(t.Context(), kindBytes, appID)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(s.Body, &d))
	return d
}

// spend stores bytes of an app if there is room for them.
func (r *running) spend(appID string, bytes int) (wait time.Duration, scarce bool) {
	if wait, scarce = r.Left(appID, bytes, time.Now()); wait == 0 {
		r.Stored(appID, bytes, time.Now())
	}
	return wait, scarce
}

// The collectors of a store count together the bytes that an app stores in a day.
//
// spec: SRV-04
func TestBytesOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tomorrow := time.Now().UTC().Truncate(day).Add(day)
		time.Sleep(time.Until(tomorrow) - 10*time.Minute)
		m := newMemory()
		a, b := startOn(t, m, withoutAPI), startOn(t, m, withoutAPI)
		m.put(t, "shop", stored(t, a, limited))
		m.put(t, "other", stored(t, a, limited))
		m.put(t, "free", stored(t, a, withCredentials))
		time.Sleep(2 * time.Second)
		accepts := func(r *running, appID string, bytes int, scarce bool) {
			t.Helper()
			wait, little := r.spend(appID, bytes)
			require.Zero(t, wait)
			require.Equal(t, scarce, little)
		}
		refuses := func(r *running, appID string, bytes int) {
			t.Helper()
			wait, scarce := r.spend(appID, bytes)
			require.Equal(t, time.Until(tomorrow), wait)
			require.True(t, scarce)
		}
		const enough = mib - mib/scarceParts // more is scarce

		accepts(a, "shop", enough-200_000, false)
		accepts(b, "shop", 200_000, false)
		time.Sleep(2 * bytesInterval)
		require.EqualValues(t, enough, m.bytes(t, "shop").Bytes)

		// Each sees the other's bytes when it has written its own again.
		_, scarce := a.spend("shop", 1)
		_, also := b.spend("shop", 1)
		require.True(t, scarce || also)
		time.Sleep(bytesInterval)
		for _, r := range []*running{a, b} {
			accepts(r, "shop", 1, true)
			refuses(r, "shop", mib/scarceParts)
			refuses(r, "shop", mib/scarceParts)
			require.Equal(t, 1, r.logged("an app has used up its bytes of the day; its clients wait for the next"))
		}

		// Neither another app nor one without a limit has anything to do with it.
		accepts(a, "other", enough, false)
		for range 3 {
			accepts(a, "free", mib, false)
		}
		accepts(a, "no such app", mib, false)

		// A store that is away loses no count, and nor does a restart.
		m.fail(errors.New("away"))
		time.Sleep(2 * bytesInterval)
		require.Positive(t, a.logged("bytes of apps could not be written and wait"))
		m.fail(nil)
		require.NoError(t, a.Shutdown(t.Context()))
		require.EqualValues(t, enough, m.bytes(t, "other").Bytes)
		c := startOn(t, m, withoutAPI)
		refuses(c, "shop", mib/scarceParts)
		_, waiting := b.quotas.pending(func(string) bool { return true })
		require.EqualValues(t, enough+4, c.quotas.today("shop", time.Now())+waiting["shop"])

		// The next day begins with nothing.
		time.Sleep(time.Until(tomorrow) - time.Second)
		refuses(c, "shop", mib/scarceParts)
		time.Sleep(time.Second)
		require.Zero(t, c.quotas.today("shop", time.Now()))
		accepts(c, "shop", enough, false)
		time.Sleep(2 * bytesInterval)
		require.Equal(t, dayBytes{Day: tomorrow, Bytes: enough}, m.bytes(t, "shop"))
		_, err := m.Setting(t.Context(), kindBytes, "free")
		require.ErrorIs(t, err, storage.ErrNoSetting)
	})
}

// A collector whose clock is years ahead spoils no other day than its own.
//
// spec: SRV-04
func TestBytesOfAnotherDay(t *testing.T) {
	m := newMemory()
	today := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct{ add, sum dayBytes }{
		{dayBytes{today.AddDate(10, 0, 0), 1000}, dayBytes{today.AddDate(10, 0, 0), 1000}},
		{dayBytes{today, 5}, dayBytes{today, 5}},
		{dayBytes{today, 6}, dayBytes{today, 11}},
		{dayBytes{today.Add(day), 7}, dayBytes{today.Add(day), 7}},
		{dayBytes{today, 8}, dayBytes{today.Add(day), 15}}, // at midnight clocks differ
	} {
		sum, err := addBytes(t.Context(), m, "shop", step.add)
		require.NoError(t, err)
		require.Equal(t, step.sum, sum)
		require.Equal(t, step.sum, m.bytes(t, "shop"))
	}
}

// The management API shows the bytes of the day, and deletes them with the app.
//
// spec: SRV-04
func TestBytesOfADayAreShown(t *testing.T) {
	m := newMemory()
	r := startOn(t, m)
	created := r.create(`{"limits":{"dailyMiB":2}}`)
	require.Eventually(t, func() bool { _, ok := r.App("shop"); return ok }, patience, time.Millisecond)
	r.Stored("shop", 1234, time.Now())
	seen := into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, ""))
	require.EqualValues(t, 1234, seen.BytesToday)
	require.Equal(t, 2, seen.Limits.DailyMiB)
	r.writeBytes(t.Context())
	require.EqualValues(t, 1234, m.bytes(t, "shop").Bytes)
	r.Stored("shop", 1, time.Now())
	r.must(http.StatusNoContent, http.MethodDelete, shop, "", "If-Match", created.header.Get("ETag"))
	_, err := m.Setting(t.Context(), kindBytes, "shop")
	require.ErrorIs(t, err, storage.ErrNoSetting)
	require.Zero(t, r.quotas.today("shop", time.Now()))

	problem := r.refused(http.StatusUnprocessableEntity, http.MethodPut, shop, `{"limits":{"dailyMiB":1000001}}`, "If-None-Match", "*")
	require.Contains(t, problem.Detail, "limits.dailyMiB")
}
