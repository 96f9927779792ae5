package qoswssreceiver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/auth"
)

// Open connections check again within a second of a change, and once more when what was
// revoked to the end of its second is in force; then there is peace.
//
// spec: AUTH-02
func TestRevisionsAreLookedForEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apps := &testApps{apps: map[string]auth.App{}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var v revisions
		start := time.Now()
		var checked []time.Duration
		revision := apps.Revision()
		apps.remove("before it runs")
		go v.run(ctx, apps, revision, defaultTiming().look, func() { checked = append(checked, time.Since(start)) })
		f := func(want ...time.Duration) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, want, checked)
			checked = nil
		}
		const ms = time.Millisecond
		f(500*ms, 1000*ms, 1500*ms, 2000*ms)
		require.EqualValues(t, 4, v.checks.Load())
		f()
		start = time.Now()
		time.Sleep(1200 * ms)
		apps.remove("x")
		time.Sleep(ms)
		f(1500*ms, 2000*ms, 2500*ms, 3000*ms)
	})
}
