package webhookexporter

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

const precallSession = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"

// preCallOf is the record of a test as the receiver makes it. Providers that begin with bad are not acceptable.
func preCallOf(session string, seq int64, at time.Time, status string, interrupted bool, providers ...string) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.AppID, "demo")
	resource.Resource().Attributes().PutStr(semconv.SessionID, session)
	r := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(semconv.EventPreCall)
	r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	r.Attributes().PutInt(semconv.FrameSeq, seq)
	r.Attributes().PutStr(semconv.PreCallStatus, status)
	r.Attributes().PutBool(semconv.PreCallInterrupted, interrupted)
	list := r.Attributes().PutEmptySlice(semconv.PreCallProviders)
	for _, name := range providers {
		m := list.AppendEmpty().SetEmptyMap()
		m.PutStr(semconv.ProviderName, name)
		m.PutBool(semconv.ProviderAcceptable, !strings.HasPrefix(name, "bad"))
	}
	return logs
}

// TestPreCallFailures: a provider that fails raises one notification of its own, though tests arrive twice.
//
// spec: OUT-02, OUT-05
func TestPreCallFailures(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	samples := 3
	e := startExporter(t, stored{Store: store}, apps{hooks: []notice.Hook{{ID: "ops", URL: r.URL, Secrets: []string{secret}}}}, func(c *Config) {
		c.Rules.Reasons = map[string]RuleConfig{"preCallFailures": {MinSamples: &samples}}
	})
	now := time.Now()
	for seq := range int64(3) {
		for range 2 {
			require.NoError(t, e.consume(t.Context(), preCallOf(precallSession, seq+1, now, "success", false, "good", "bad-1")))
		}
		require.NoError(t, e.consume(t.Context(), preCallOf(precallSession, seq+11, now, "failure", true, "good")))
		require.NoError(t, e.consume(t.Context(), preCallOf(precallSession, seq+21, now, "failure", false)))
	}
	got := r.await(t, 1)
	require.NoError(t, e.shutdown(t.Context()))
	require.NoError(t, store.Close())
	require.Len(t, got, 1)
	body := got[0].body
	require.Len(t, body, 10)
	require.Equal(t, "preCallFailures", body["reason"])
	require.EqualValues(t, 3, body["actualValue"])
	require.EqualValues(t, 1, body["fractionalValue"])
	require.Contains(t, body["url"], "http://localhost:8481/search?app=demo&failed=true&from=")
	require.Contains(t, body["url"], "&provider=bad-1&")
	require.Contains(t, body["text"], "3 of 3 pre-call tests of provider bad-1 of app demo failed")
}

// TestPreCallPoints: what cannot be a sample is dropped, and a point has room for the names of its providers.
func TestPreCallPoints(t *testing.T) {
	e, _ := stopped(t, apps{hooks: []notice.Hook{{ID: "ops"}}}, nil)
	now := time.Now()
	read := func(logs plog.Logs) ([]storage.Point, map[dropReason]int) { return e.read(logs, now) }
	_, dropped := read(preCallOf("none", 1, now, "failure", false, "a"))
	require.Equal(t, map[dropReason]int{dropPreCall: 1}, dropped)
	_, dropped = read(preCallOf(precallSession, 0, now, "failure", false, "a"))
	require.Equal(t, map[dropReason]int{dropPreCall: 1}, dropped)
	_, dropped = read(preCallOf(precallSession, 1, now.Add(-25*time.Hour), "failure", false, "a"))
	require.Equal(t, map[dropReason]int{dropLate: 1}, dropped)
	points, dropped := read(preCallOf(precallSession, 1, now, "failure", true, "a"))
	require.Empty(t, points)
	require.Empty(t, dropped)

	names := make([]string, 32)
	for i := range names {
		names[i] = strings.Repeat("<", i) + "x"
	}
	points, _ = read(preCallOf(precallSession, 1, now, "failure", false, names...))
	require.Len(t, points, 1)
	require.NoError(t, points[0].Check())
	f, err := notice.DecodeFact(points[0].Body)
	require.NoError(t, err)
	require.True(t, *f.PreCall)
	require.Greater(t, len(f.Providers), 5)
}
