package webhookexporter

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// Rules of the management API go before those of the configuration, from the next tick on. Where they
// count otherwise, by a window or a limit, what was counted before is counted again; an override that
// is not valid changes nothing.
//
// spec: OUT-02
func TestRulesChange(t *testing.T) {
	r := newReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	rules := new(atomic.Pointer[override])
	a := apps{hooks: []notice.Hook{{ID: "n", URL: r.URL, Secrets: []string{secret}}}, rules: rules}
	samples, threshold := 3, 0.9
	e := startExporter(t, stored{Store: store}, a, func(c *Config) {
		c.AppRules = map[string]RulesConfig{"demo": {Reasons: map[string]RuleConfig{"lowQuality": {MinSamples: &samples, Threshold: &threshold}}}}
	})
	require.NoError(t, e.shutdown(t.Context()))
	now := time.Now()
	ticks := 0
	notifications := func() int {
		ticks++
		e.engine.tick(t.Context(), now.Add(time.Duration(ticks)*evaluateInterval))
		e.engine.sending.Wait()
		return len(r.all())
	}
	conference := func(id string, age time.Duration, mos float64) []storage.Point {
		logs := summaryOf("demo", id, now.Add(-age), now.Add(-age), 1, "success")
		logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().SetStr(fmt.Sprintf(`{"outcome":"success","mos":%g,"setupMs":[],"participants":[]}`, mos))
		points, _ := e.read(logs, now)
		return points
	}
	for i := range 6 { // 0 to 25 minutes ago
		e.record(t.Context(), conference(fmt.Sprint("c", i), time.Duration(i)*5*time.Minute, 3+0.2*float64(i)))
	}
	others := conference("of another app", 0, 1)
	others[0].AppID = "other"
	e.record(t.Context(), others)
	require.Zero(t, notifications(), "one of six is below 3.2")
	set := func(o notice.RuleOverride) {
		rules.Store(&override{rules: &notice.Override{Reasons: map[notice.Reason]notice.RuleOverride{notice.LowQuality: o}}})
	}
	set(notice.RuleOverride{Limit: new(3.7)}) // four of six
	require.Zero(t, notifications())
	e.record(t.Context(), conference("new", 0, 3))
	set(notice.RuleOverride{Limit: new(3.7), Times: notice.Times{WindowMs: new(int64(18 * 60_000))}}) // five of five
	require.Equal(t, 1, notifications())
	body := r.all()[0].body
	require.Equal(t, []any{"lowQuality", 5.0, 1.0, 0.9}, []any{body["reason"], body["actualValue"], body["fractionalValue"], body["threshold"]})
	require.Equal(t, samples, e.engine.rulesOf("demo").Of(notice.LowQuality).MinSamples, "of the configuration")

	set(notice.RuleOverride{Limit: new(9.0)})
	notifications()
	require.Equal(t, 3.2, e.engine.rulesOf("demo").Of(notice.LowQuality).Limit, "not valid")
	rules.Store(nil)
	notifications()
	require.Equal(t, time.Hour, e.engine.rulesOf("demo").Of(notice.LowQuality).Window)
}
