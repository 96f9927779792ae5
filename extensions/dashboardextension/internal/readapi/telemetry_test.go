package readapi

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestTelemetry: what is refused, left out or failed is counted by its reason.
func TestTelemetry(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	builder, err := metadata.NewTelemetryBuilder(tel.NewTelemetrySettings())
	require.NoError(t, err)
	m := &memory{}
	c := m.newCall("chatty", t0)
	for range maxEntries["skip"] + 2 {
		c.record(alice, 1, t0, semconv.EventSkip, nil)
	}
	base := startOn(t, m, func(s *Settings) { s.Telemetry = builder })

	get(t, base+"/api/conferences?limit=x")
	ask(t, base, c)
	m.err = errors.New("gone")
	get(t, base+"/api/conferences")

	point := func(n int64, key, value string) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String(key, value))}
	}
	ignore := metricdatatest.IgnoreTimestamp()
	metadatatest.AssertEqualQosdashboardRejectedRequests(t, tel, []metricdata.DataPoint[int64]{point(1, "reason", "parameter")}, ignore)
	metadatatest.AssertEqualQosdashboardOmittedRecords(t, tel, []metricdata.DataPoint[int64]{point(2, "part", "timeline")}, ignore)
	metadatatest.AssertEqualQosdashboardStoreErrors(t, tel, []metricdata.DataPoint[int64]{{Value: 1}}, ignore)
}

// BenchmarkFold folds an hour of 20 participants with 8 streams each, at 5 s.
func BenchmarkFold(b *testing.B) {
	m := &memory{}
	c := m.newCall("all hands", t0)
	for i := range 720 {
		for s := range 160 {
			c.stats(alice, seconds(float64(5*i)), "inbound-rtp", "video", map[string]any{
				"ssrc": int64(s + 1), "bytes": int64(625_000), "packets": int64(95), "packetsLost": int64(5), "jitterMs": 4.25, "fps": 30.0,
				"rttMs": math.Pi, semconv.QualityMOS: 4.1, semconv.QualityLabel: "good",
			})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		f := newBuilder(names{})
		var m event.Measurement
		for i := range c.records {
			e, _ := eventrow.Read(&c.records[i].Record, &m)
			e.Session = c.records[i].session
			f.add(&e, &c.records[i].Record)
		}
		f.detail()
	}
	b.ReportMetric(float64(len(c.records)), "records/op")
}
