package qoswssreceiver

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth"
)

// woken records when connections of which application were woken.
type woken struct {
	mu    sync.Mutex
	start time.Time
	open  []string
	at    map[string][]time.Duration
}

func (w *woken) openApps() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

func (w *woken) wakeApps(apps map[string]dueEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for app := range apps {
		w.at[app] = append(w.at[app], time.Since(w.start))
	}
}

// Open connections of an app check again within a second of a change of it, and until what
// was revoked to the end of its second is in force; then there is peace. Those of other
// apps are left alone.
//
// spec: AUTH-02
func TestRevisionsAreLookedForEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apps := &testApps{apps: map[string]auth.App{"a": {ID: "a"}, "b": {ID: "b"}, "c": {ID: "c"}}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var v revisions
		w := &woken{start: time.Now(), open: []string{"a", "b"}, at: map[string][]time.Duration{}}
		revision := apps.Revision()
		apps.limit("a", "https://before.it.runs")
		go v.run(ctx, apps, revision, defaultTiming().pollApps, w)
		const ms = time.Millisecond
		thrice := []time.Duration{500 * ms, 1000 * ms, 1500 * ms, 2000 * ms}
		f := func(want map[string][]time.Duration) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			require.Equal(t, want, w.at)
			w.at, w.start = map[string][]time.Duration{}, time.Now()
		}
		f(map[string][]time.Duration{"a": thrice, "b": thrice}) // what they were is not known
		before := v.checks.Load()
		f(map[string][]time.Duration{})
		require.Equal(t, before, v.checks.Load())
		apps.limit("a", "https://other.example.org")
		f(map[string][]time.Duration{"a": thrice})
		require.Greater(t, v.checks.Load(), before)
		apps.limit("c", "https://nobody.is.there")
		f(map[string][]time.Duration{})
		w.mu.Lock()
		w.open = []string{"a", "b", "c"}
		w.mu.Unlock()
		apps.remove("b")
		f(map[string][]time.Duration{"b": thrice, "c": thrice})
	})
}
