package series

import (
	"fmt"
	"runtime"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// BenchmarkSeriesMemory reports the bytes of one entry of stream metrics: four histograms, all with an
// exemplar.
func BenchmarkSeriesMemory(b *testing.B) {
	const entries = 10_000
	cfg := DefaultConfig()
	cfg.MaxSeries = entries
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		a := New(cfg, testNow)
		for i := range entries {
			logs := plog.NewLogs()
			records := call(logs, map[string]any{semconv.AppID: "demo", semconv.SiteID: fmt.Sprint("site", i)}, nil)
			put(records, semconv.EventStats, map[string]any{
				semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.QualityMOS: 4.0, eventtest.Stats("rttMs"): 10.0,
				eventtest.Stats("jitterMs"): 10.0, eventtest.Stats("packets"): 10, eventtest.Stats("packetsLost"): 1,
			})
			a.Observe(logs, testNow)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/entries/4, "B/series")
		runtime.KeepAlive(a)
	}
}
