package webhookexporter

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// everyApp has a webhook for each app.
type everyApp struct{ apps }

func (a everyApp) Webhooks(string) []notice.Hook { return a.hooks }

const benchApps = 1000

// batchOf returns one record of each of 1,000 apps: one in so many is a summary, the others are events.
func batchOf(round, summaryEvery int, now time.Time) plog.Logs {
	out := plog.NewLogs()
	for i := range benchApps {
		logs := summaryOf(fmt.Sprint("app ", i), fmt.Sprintf("c %d %d", round, i), now.Add(-time.Minute), now, 1, "success")
		r := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		if i%summaryEvery > 0 {
			r.SetEventName(semconv.EventStats)
		}
		r.Body().SetStr(`{"outcome":"success","mos":4.1,"setupMs":[120],"participants":[{"session":"s","fabrics":[{"candidatePair":{"rttMs":{"p50":80}},"streams":[{"lossFraction":0.01,"rttMs":{"p50":81}}]}],"feedback":[]}]}`)
		logs.ResourceLogs().MoveAndAppendTo(out.ResourceLogs())
	}
	return out
}

// BenchmarkRead reads records of 1,000 apps with webhooks, of which each hundredth, or each, is a summary.
func BenchmarkRead(b *testing.B) {
	e := &webhookExporter{apps: everyApp{apps{hooks: []notice.Hook{{ID: "h"}}}}}
	for _, every := range []int{1, 100} {
		b.Run(fmt.Sprintf("summaries=1in%d", every), func(b *testing.B) {
			now := time.Now()
			logs := batchOf(0, every, now)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				points, _ := e.read(logs, now)
				n += len(points)
			}
			require.Equal(b, b.N*benchApps/every, n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchApps), "ns/record")
		})
	}
}

// BenchmarkConferences takes 1,000 summaries, each of another app, from the pipeline through the store
// into the windows.
func BenchmarkConferences(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store"), sqlite.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	cfg := createDefaultConfig().(*Config)
	cfg.DashboardURL = "http://localhost:8481"
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(b, err)
	a := everyApp{apps{hooks: []notice.Hook{{ID: "h", URL: "http://localhost:1"}}}}
	e := &webhookExporter{cfg: cfg, logger: zap.NewNop(), telemetry: telemetry, apps: a, store: store}
	e.engine, err = newEngine(e, stored{Store: store}, newClient(nil, nil, time.Second, nil))
	require.NoError(b, err)
	now := time.Now()
	e.engine.tick(b.Context(), now)
	b.ReportAllocs()
	round := 0
	for b.Loop() {
		round++
		b.StopTimer()
		logs := batchOf(round, 1, now)
		b.StartTimer()
		require.NoError(b, e.consume(b.Context(), logs))
		require.NoError(b, e.engine.count(b.Context(), now))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchApps), "ns/conference")
}

// BenchmarkBesideDeadURLs sends notices to one healthy URL, beside none and beside 1,000 dead ones of other apps, which answer
// nothing and always have a notice that is due. It reports how long the 50th and the 99th percentile of the healthy ones take from
// the record of a conference until the request arrives.
func BenchmarkBesideDeadURLs(b *testing.B) {
	for _, dead := range []int{0, 1000} {
		b.Run(fmt.Sprintf("dead=%d", dead), func(b *testing.B) {
			arrived, hang := make(chan time.Time, 1), make(chan struct{})
			healthy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- time.Now() }))
			b.Cleanup(healthy.Close)
			mute := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
			b.Cleanup(mute.Close)
			b.Cleanup(func() { close(hang) })
			store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store"), sqlite.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, store.Close()) })
			c := newCrowd(dead)
			for app := range c.of {
				for i := range c.of[app] {
					c.of[app][i].URL = mute.URL + c.of[app][i].URL[len("https://dead.example"):]
				}
			}
			c.of["healthy"][0].URL = healthy.URL
			c.pending(b, store, 50, 0, time.Now())
			e := startBeside(b, stored{Store: store}, c)
			if dead > 0 { // the first attempts end
				require.Eventually(b, func() bool { return e.engine.slots.known() == dead }, 5*time.Minute, 100*time.Millisecond)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				begin := time.Now()
				require.NoError(b, e.consume(b.Context(), summaryOf("healthy", strconv.Itoa(i), begin, begin, 1, "totallyFailed")))
				took = append(took, (<-arrived).Sub(begin))
				time.Sleep(10 * time.Millisecond) // a conference fails now and then
			}
			require.NoError(b, e.shutdown(b.Context()))
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
		})
	}
}

// HookedApps returns the apps of a crowd.
func (c crowd) HookedApps() []string { return slices.Sorted(maps.Keys(c.of)) }

// startBeside starts an exporter that waits 3 s for an answer, and whose windows notify of nothing.
func startBeside(b *testing.B, store stored, c crowd) *webhookExporter {
	b.Helper()
	cfg, off := createDefaultConfig().(*Config), false
	cfg.DashboardURL, cfg.AllowedNetworks, cfg.Timeout = "http://localhost:8481", []string{"127.0.0.0/8", "::1/128"}, 3*time.Second
	cfg.Rules.Reasons = map[string]RuleConfig{"failedConferences": {Interval: &off}}
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(b, err)
	e := &webhookExporter{cfg: cfg, logger: zap.NewNop(), telemetry: telemetry, grace: time.Millisecond}
	require.NoError(b, e.start(b.Context(), hosttest.Host{cfg.Storage: store, cfg.Apps: c}))
	return e
}
