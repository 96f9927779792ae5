package stock

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusexporter"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/qosrtc/qos/exporters/timeseriesexporter"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

const (
	sessions  = 1000
	sites     = 20
	recordsOf = 5 // a frame

	streamSeconds = 10 // that a record adds
)

// kinds are the streams of a frame; its fifth record is the candidate pair.
var kinds = [4][2]string{{"inbound", "audio"}, {"inbound", "video"}, {"outbound", "audio"}, {"outbound", "video"}}

// frame is a frame of a session as the pipeline passes it to the time-series exporter.
func frame(session int) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(semconv.AppID, "demo")
	rl.Resource().Attributes().PutStr(semconv.SessionID, fmt.Sprint("session", session))
	rl.Resource().Attributes().PutStr(semconv.SiteID, fmt.Sprint("site", session%sites))
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().Attributes().PutStr(semconv.ConferenceID, fmt.Sprint("conference", session/2))
	sl.Scope().Attributes().PutStr(semconv.FabricUsage, "multiplex")
	sl.Scope().Attributes().PutStr(semconv.RemoteEndpointType, "peer")
	for i := range recordsOf {
		r := sl.LogRecords().AppendEmpty()
		r.SetEventName(semconv.EventStats)
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", fmt.Sprint("conference", session/2))))
		r.SetSpanID(pcommon.SpanID(semconv.SpanID(fmt.Sprint("session", session), 1)))
		a := r.Attributes()
		a.PutDouble(semconv.IntervalMs, 1000*streamSeconds)
		a.PutDouble(eventtest.Stats("rttMs"), rttMs(session))
		if i == len(kinds) {
			a.PutStr(semconv.StatsType, "candidate-pair")
			continue
		}
		a.PutStr(semconv.StatsType, kinds[i][0]+"-rtp")
		a.PutStr(semconv.MediaType, kinds[i][1])
		a.PutDouble(semconv.QualityMOS, 4.1)
		a.PutStr(semconv.QualityLabel, "good")
		if kinds[i][0] == "inbound" {
			a.PutInt(eventtest.Stats("packets"), 498) // with the lost ones 500
			a.PutInt(eventtest.Stats("packetsLost"), 2)
			a.PutDouble(eventtest.Stats("jitterMs"), 12)
		} else {
			a.PutDouble(eventtest.Stats("remoteLossFraction"), 0.004)
			a.PutDouble(eventtest.Stats("remoteJitterMs"), 12)
		}
	}
	return logs
}

func rttMs(session int) float64 { return 40 + 20*float64(session%7) }

// increases are what the frame adds to each series, as OpenTelemetry metrics with delta temporality:
// another component would have counted the records.
func increases(session int) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	scope := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	sum := func(name string, value float64) pmetric.NumberDataPoint {
		m := scope.Metrics().AppendEmpty()
		m.SetName(name)
		s := m.SetEmptySum()
		s.SetIsMonotonic(true)
		s.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		dp := s.DataPoints().AppendEmpty()
		dp.SetDoubleValue(value)
		dp.Attributes().PutStr("app", "demo")
		return dp
	}
	sum(semconv.MetricMeasurements, recordsOf)
	for i := range kinds {
		label := func(attrs pcommon.Map, all bool) {
			attrs.PutStr("app", "demo")
			attrs.PutStr("site", fmt.Sprint("site", session%sites))
			attrs.PutStr("media", kinds[i][1])
			attrs.PutStr("direction", kinds[i][0])
			if all {
				attrs.PutStr("usage", "multiplex")
				attrs.PutStr("endpoint_type", "peer")
				attrs.PutStr("relay", "unknown")
			}
		}
		seconds := sum(semconv.MetricStreamSeconds, streamSeconds)
		label(seconds.Attributes(), false)
		seconds.Attributes().PutStr("label", "good")
		for name, of := range map[string]struct {
			bounds []float64
			value  float64
		}{
			semconv.MetricStreamMOS:    {[]float64{1, 1.5, 2, 2.3, 2.6, 2.9, 3.2, 3.5, 3.8, 4, 4.2, 4.3, 4.4, 4.5, 4.7}, 4.1},
			semconv.MetricStreamLoss:   {[]float64{0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1}, 0.004},
			semconv.MetricStreamJitter: {[]float64{0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5}, 0.012},
			semconv.MetricStreamRTT:    {[]float64{0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 2}, rttMs(session) / 1000},
		} {
			m := scope.Metrics().AppendEmpty()
			m.SetName(name)
			h := m.SetEmptyHistogram()
			h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			dp := h.DataPoints().AppendEmpty()
			label(dp.Attributes(), true)
			dp.SetCount(1)
			dp.SetSum(of.value)
			dp.ExplicitBounds().FromRaw(of.bounds)
			counts := make([]uint64, len(of.bounds)+1)
			for n, bound := range append(of.bounds, 1e18) {
				if of.value <= bound {
					counts[n] = 1
					break
				}
			}
			dp.BucketCounts().FromRaw(counts)
		}
	}
	return metrics
}

// renew makes the data points of a frame end at a time and begin where those of the same series before
// ended: the exporter drops others. It adds to the sums in place, so they begin again.
func renew(metrics pmetric.Metrics, at pcommon.Timestamp) {
	from, value := at-1, float64(recordsOf) // of the app's series, which is the first
	for _, m := range metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		if m.Type() == pmetric.MetricTypeSum {
			m.Sum().DataPoints().At(0).SetStartTimestamp(from)
			m.Sum().DataPoints().At(0).SetTimestamp(at)
			m.Sum().DataPoints().At(0).SetDoubleValue(value)
		} else {
			m.Histogram().DataPoints().At(0).SetStartTimestamp(from)
			m.Histogram().DataPoints().At(0).SetTimestamp(at)
		}
		from, value = at-sites, streamSeconds
	}
}

// scraped returns the value of a counter on a scrape page.
func scraped(b *testing.B, address, name string) float64 {
	b.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	require.NoError(b, err)
	defer func() { require.NoError(b, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(b, err)
	metrics, err := harness.ParseMetrics(string(body))
	require.NoError(b, err)
	return metrics.Sum(name)
}

// configured returns the default configuration with an endpoint of its own.
func configured(b *testing.B, config component.Config, settings map[string]any) (_ component.Config, address string) {
	b.Helper()
	address, err := freeport.Address()
	require.NoError(b, err)
	settings["endpoint"] = address
	require.NoError(b, confmap.NewFromStringMap(settings).Unmarshal(config))
	return config, address
}

// run starts a component, and ends it with the benchmark.
func run(b *testing.B, c component.Component) {
	b.Helper()
	require.NoError(b, c.Start(b.Context(), componenttest.NewNopHost()))
	b.Cleanup(func() { require.NoError(b, c.Shutdown(context.WithoutCancel(b.Context()))) })
}

// BenchmarkEvents has the cost of one record of a frame, counted by the time-series exporter, and of what
// another component would have made of it, accumulated by the stock exporter. Both have the same
// series.
func BenchmarkEvents(b *testing.B) {
	counted := func(b *testing.B, address string) { // of each sum, and so of each series: nothing was dropped
		b.Helper()
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/recordsOf, "ns/record")
		require.InDelta(b, float64(b.N*recordsOf), scraped(b, address, semconv.MetricMeasurements), 0.5)
		require.InDelta(b, float64(b.N*len(kinds)), scraped(b, address, semconv.MetricStreamMOS+"_count"), 0.5+sites*float64(len(kinds)))
	}
	for _, mode := range []string{"aggregate", "conference"} {
		b.Run("qostimeseries/"+mode, func(b *testing.B) {
			factory := timeseriesexporter.NewFactory()
			config, address := configured(b, factory.CreateDefaultConfig(), map[string]any{"series": mode, "max_series": 10_000})
			e, err := factory.CreateLogs(b.Context(), exportertest.NewNopSettings(factory.Type()), config)
			require.NoError(b, err)
			run(b, e)
			frames := make([]plog.Logs, sessions)
			for i := range frames {
				frames[i] = frame(i)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := e.ConsumeLogs(b.Context(), frames[i%sessions]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			counted(b, address)
		})
	}
	b.Run("prometheus", func(b *testing.B) {
		factory := prometheusexporter.NewFactory()
		config, address := configured(b, factory.CreateDefaultConfig(), map[string]any{})
		e, err := factory.CreateMetrics(b.Context(), exportertest.NewNopSettings(factory.Type()), config)
		require.NoError(b, err)
		run(b, e)
		frames := make([]pmetric.Metrics, sessions)
		for i := range frames {
			frames[i] = increases(i)
		}
		i, at := 0, pcommon.NewTimestampFromTime(time.Now())
		b.ReportAllocs()
		for b.Loop() {
			at++
			renew(frames[i%sessions], at)
			if err := e.ConsumeMetrics(b.Context(), frames[i%sessions]); err != nil {
				b.Fatal(err)
			}
			i++
		}
		counted(b, address)
		b.ReportMetric(float64(frames[0].DataPointCount()), "points/frame")
	})
}
