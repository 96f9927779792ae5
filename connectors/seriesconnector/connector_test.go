package seriesconnector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/qosrtc/qos/connectors/seriesconnector/internal/metadata"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// setup returns the log of a fabric that took that long to connect.
func setup(ms string) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(semconv.AppID, "demo")
	r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(semconv.EventEvent)
	r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", "c")))
	r.Attributes().PutStr(semconv.EventName, "fabricSetup")
	r.Attributes().PutStr(semconv.EventData, `{"setupMs":`+ms+`}`)
	return logs
}

func start(t *testing.T, next consumer.Metrics) connector.Logs {
	t.Helper()
	set := connector.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	set.Resource.Attributes().PutStr("service.instance.id", "i-1")
	set.Resource.Attributes().PutStr("host.name", "not the collector's name")
	c, err := NewFactory().CreateLogsToMetrics(t.Context(), set, createDefaultConfig(), next)
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
	return c
}

// points returns the data points of the set-up delay.
func points(t *testing.T, all []pmetric.Metrics) (out []pmetric.HistogramDataPoint) {
	t.Helper()
	for _, md := range all {
		rm := md.ResourceMetrics().At(0)
		require.Equal(t, map[string]any{"service.instance.id": "i-1"}, rm.Resource().Attributes().AsRaw())
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			if m.Name() == semconv.MetricConferences {
				continue // 0 of each outcome
			}
			require.Equal(t, "qos_fabric_setup_delay_seconds", m.Name())
			require.Equal(t, "s", m.Unit())
			require.Equal(t, pmetric.AggregationTemporalityCumulative, m.Histogram().AggregationTemporality())
			for _, dp := range m.Histogram().DataPoints().All() {
				out = append(out, dp)
			}
		}
	}
	return out
}

// TestEmitsCumulativeMetrics: each interval has one data point of a series, which begins with a zero
// at its start; the last interval ends with the connector.
//
// spec: OUT-01
func TestEmitsCumulativeMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &consumertest.MetricsSink{}
		c := start(t, sink)
		time.Sleep(time.Second)
		began := time.Now()
		require.NoError(t, c.ConsumeLogs(t.Context(), setup("250")))
		time.Sleep(14 * time.Second)
		synctest.Wait()
		got := points(t, sink.AllMetrics())
		require.Len(t, got, 2)
		require.Zero(t, got[0].Count())
		require.Equal(t, got[0].StartTimestamp(), got[0].Timestamp())
		require.Equal(t, began.UnixMilli(), got[0].Timestamp().AsTime().UnixMilli())
		require.EqualValues(t, 1, got[1].Count())
		require.InDelta(t, 0.25, got[1].Sum(), 0)
		require.Equal(t, began.UnixMilli(), got[1].StartTimestamp().AsTime().UnixMilli())
		require.Equal(t, time.Now().UnixMilli(), got[1].Timestamp().AsTime().UnixMilli())
		require.Equal(t, map[string]any{"app": "demo", "relay": "unknown"}, got[1].Attributes().AsRaw())
		require.EqualValues(t, semconv.TraceID("demo", "c"), got[1].Exemplars().At(0).TraceID())

		require.NoError(t, c.ConsumeLogs(t.Context(), setup("500")))
		time.Sleep(15 * time.Second)
		synctest.Wait()
		require.NoError(t, c.ConsumeLogs(t.Context(), setup("1000")))
		require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context())))
		got = points(t, sink.AllMetrics())
		require.Len(t, got, 4)
		require.EqualValues(t, 2, got[2].Count())
		require.InDelta(t, 1.75, got[3].Sum(), 0)
		require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context())))
	})
}

// TestARefusalLosesNoCount: logs are accepted while the next component refuses, and what it refused is in the
// next data points.
//
// spec: OUT-01
func TestARefusalLosesNoCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink, away := &consumertest.MetricsSink{}, true
		next, err := consumer.NewMetrics(func(ctx context.Context, md pmetric.Metrics) error {
			if away {
				return errors.New("away")
			}
			return sink.ConsumeMetrics(ctx, md)
		})
		require.NoError(t, err)
		c := start(t, next)
		require.NoError(t, c.ConsumeLogs(t.Context(), setup("250")))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		away = false
		require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context())))
		got := points(t, sink.AllMetrics())
		require.Len(t, got, 1)
		require.EqualValues(t, 1, got[0].Count())
	})
}

func TestValidateNamesEveryFault(t *testing.T) {
	require.NoError(t, createDefaultConfig().(*Config).Validate())
	err := (&Config{}).Validate()
	require.ErrorContains(t, err, "max_series must be positive (got 0)")
	require.ErrorContains(t, err, "interval must be at least 100ms (got 0s)")
}
