//go:build linux

package conferenceprocessor

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// BenchmarkConsume takes frames of 5 rows (2 streams in, 2 out, the pair): ns and
// allocations are those of a frame. Bare is what this benchmark itself does with a frame: the
// difference is the processor's. cpu-ns are those that this process took, whatever else the
// machine does.
func BenchmarkConsume(b *testing.B) {
	for _, name := range []string{"bare", "consumed"} {
		b.Run(name, func(b *testing.B) {
			c, err := newConferences(createDefaultConfig().(*Config), componenttest.NewNopTelemetrySettings(), consumertest.NewNop())
			require.NoError(b, err)
			logs := frame(1, semconv.EventStats, 1, nil)
			scope := logs.ResourceLogs().At(0).ScopeLogs().At(0)
			scope.LogRecords().RemoveIf(func(plog.LogRecord) bool { return true })
			for i := range 5 {
				addRecord(scope, 1, semconv.EventStats, time.Now(), row(i))
				scope.LogRecords().At(i).Attributes().PutInt(semconv.FrameIndex, int64(i))
			}
			b.ReportAllocs()
			seq, before := int64(0), cpuTime(b)
			for b.Loop() {
				seq++
				for _, record := range scope.LogRecords().All() {
					record.Attributes().PutInt(semconv.FrameSeq, seq)
				}
				if name == "bare" {
					continue
				}
				if err := c.ConsumeLogs(b.Context(), logs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(5*seq), "cpu-ns/record")
		})
	}
}

// cpuTime returns the CPU time of this process, ns.
func cpuTime(tb testing.TB) int64 {
	tb.Helper()
	var used syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

func row(i int) map[string]any {
	if i == 4 {
		return map[string]any{
			semconv.IntervalMs: 10_000.0, semconv.StatsType: "candidate-pair",
			eventtest.Stats("rttMs"): 20.5, eventtest.Stats("bytesReceived"): int64(99_000), eventtest.Stats("bytesSent"): int64(98_000),
		}
	}
	attrs := map[string]any{
		semconv.IntervalMs: 10_000.0, semconv.StatsType: [...]string{"inbound-rtp", "outbound-rtp"}[i/2],
		semconv.MediaType: [...]string{"audio", "video"}[i%2], eventtest.Stats("ssrc"): int64(1000 + i), eventtest.Stats("codec"): "opus",
		semconv.QualityMOS: 4.21, semconv.QualityLabel: "excellent", eventtest.Stats("jitterMs"): 3.2, eventtest.Stats("rttMs"): 21.0,
	}
	for _, name := range []string{
		"bytes", "packets", "packetsLost", "packetsDiscarded", "samples", "concealedSamples", "nacks", "plis", "frames", "fps", "freezes", "width", "height",
	} {
		attrs[eventtest.Stats(name)] = int64(len(name) * 37)
	}
	return attrs
}
