package timeseriesexporter

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadatatest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestInternalTelemetry: what is left out is counted by its number; nothing left out is no count.
func TestInternalTelemetry(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.WithoutCancel(t.Context()))) })
	builder, err := metadata.NewTelemetryBuilder(telemetry.NewTelemetrySettings())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	cfg.MaxApps = 1
	e, err := newExporter(t.Context(), cfg, exportertest.NewNopSettings(metadata.Type), builder)
	require.NoError(t, err)
	send := func(app string, ids ...string) {
		logs := plog.NewLogs()
		for _, id := range ids {
			record(logs, app, semconv.EventIssue, map[string]any{semconv.IssueID: id, semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
		}
		require.NoError(t, e.consume(t.Context(), logs))
	}
	send("a", "1", "2")
	_, err = telemetry.GetMetric("otelcol_qostimeseries_untracked_issues")
	require.Error(t, err, "nothing was left out")
	_, err = telemetry.GetMetric("otelcol_qostimeseries_overflow_records")
	require.Error(t, err, "nothing was left out")
	for n := range 100_000 / 1000 {
		ids := make([]string, 1000)
		for i := range ids {
			ids[i] = fmt.Sprint("more", n, " ", i)
		}
		send("a", ids...)
	}
	send("b", "3", "4", "5")
	send("a", strings.Repeat("i", 1000))
	send("a\n", "1")
	metadatatest.AssertEqualQostimeseriesReplacedLabels(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQostimeseriesUntrackedIssues(t, telemetry, []metricdata.DataPoint[int64]{{Value: 2 + 3}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQostimeseriesOverflowRecords(t, telemetry,
		[]metricdata.DataPoint[int64]{{Value: 3 + 1, Attributes: attribute.NewSet(attribute.String("metric", "all"))}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQostimeseriesDroppedRecords(t, telemetry,
		[]metricdata.DataPoint[int64]{{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", "attribute"))}}, metricdatatest.IgnoreTimestamp())
	e.sweep(t.Context(), time.Now().Add(2*time.Hour)) // the issues that are open keep one series
	metadatatest.AssertEqualQostimeseriesIdleSeries(t, telemetry, []metricdata.DataPoint[int64]{
		{Value: 2, Attributes: attribute.NewSet(attribute.String("metric", semconv.MetricIssuesRaised))},
	}, metricdatatest.IgnoreTimestamp())
}

// TestStartNamesTheEndpoint: an endpoint that is in use is an error that names it, and ends cleanly.
func TestStartNamesTheEndpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = listener.Addr().String()
	builder, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e, err := newExporter(t.Context(), cfg, exportertest.NewNopSettings(metadata.Type), builder)
	require.NoError(t, err)
	require.ErrorContains(t, e.start(t.Context(), componenttest.NewNopHost()), "scrape endpoint "+cfg.NetAddr.Endpoint)
	require.NoError(t, e.shutdown(t.Context()))
}

// TestExpositionFormat: a scraper is given the format that it reads.
func TestExpositionFormat(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "127.0.0.1:0"
	builder, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e, err := newExporter(t.Context(), cfg, exportertest.NewNopSettings(metadata.Type), builder)
	require.NoError(t, err)
	require.NoError(t, e.start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.shutdown(context.WithoutCancel(t.Context()))) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+e.addr+"/metrics", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	openMetrics, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(openMetrics.Body)
	require.NoError(t, err)
	require.NoError(t, openMetrics.Body.Close())
	require.Equal(t, "application/openmetrics-text; version=1.0.0; charset=utf-8", openMetrics.Header.Get("Content-Type"))
	require.Equal(t, "# EOF\n", string(body))
	resp, err := http.Get("http://" + e.addr + "/metrics")
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", resp.Header.Get("Content-Type"))
}

// TestLeastConfig: one application is enough; a host that is none is named.
func TestLeastConfig(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.MaxApps = 1
	require.NoError(t, cfg.Validate())
	cfg.AllowedHosts = []string{"https://metrics.example.org/"}
	require.ErrorContains(t, cfg.Validate(), "allowed_hosts")
}
