package timeseriesexporter

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadatatest"
	"github.com/qosrtc/qos/internal/semconv"
)

// TestBucketBounds: dashboards and alerts name these bounds.
//
// spec: OUT-01
func TestBucketBounds(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{})
	a := newAggregates(1)
	a.observe(logs)
	bounds := map[string][]string{}
	for line := range strings.Lines(exposition(t, a)) {
		if metric, rest, ok := strings.Cut(line, "_bucket{"); ok {
			_, le, _ := strings.Cut(rest, `le="`)
			le, _, _ = strings.Cut(le, `"`)
			bounds[metric] = append(bounds[metric], le)
		}
	}
	mos := "1 1.5 2 2.3 2.6 2.9 3.2 3.5 3.8 4 4.2 4.3 4.4 4.5 4.7 +Inf"
	require.Equal(t, map[string][]string{
		"qos_conference_duration_seconds": strings.Fields("10 30 60 120 300 600 1200 1800 3600 7200 14400 +Inf"),
		"qos_conference_mos":              strings.Fields(mos),
		"qos_fabric_setup_delay_seconds":  strings.Fields("0.05 0.1 0.2 0.3 0.5 0.75 1 1.5 2 3 5 10 20 30 +Inf"),
		"qos_stream_mos":                  strings.Fields(mos),
		"qos_stream_loss_ratio":           strings.Fields("0 0.001 0.005 0.01 0.02 0.03 0.05 0.1 0.2 0.5 1 +Inf"),
		"qos_stream_jitter_seconds":       strings.Fields("0.002 0.005 0.01 0.02 0.03 0.05 0.1 0.2 0.5 +Inf"),
		"qos_stream_rtt_seconds":          strings.Fields("0.01 0.025 0.05 0.1 0.15 0.2 0.3 0.5 0.8 1 2 +Inf"),
	}, bounds)
}

// TestUnknownIsNotZero: a measurement without a field counts nothing of it, in either direction.
//
// spec: OUT-01
func TestUnknownIsNotZero(t *testing.T) {
	fields := map[string]string{
		semconv.QualityMOS: "qos_stream_mos", semconv.Stats("rttMs"): "qos_stream_rtt_seconds",
		semconv.Stats("jitterMs"): "qos_stream_jitter_seconds",
		semconv.Stats("packets"):  "", semconv.Stats("packetsLost"): "", semconv.Stats("remotePacketsLost"): "", // each alone makes no ratio
		semconv.Stats("remoteJitterMs"): "qos_stream_jitter_seconds", semconv.Stats("remoteLossFraction"): "qos_stream_loss_ratio",
	}
	outbound := []string{semconv.Stats("remoteJitterMs"), semconv.Stats("remoteLossFraction")}
	inbound := []string{semconv.Stats("jitterMs")}
	for field, metric := range fields {
		for _, statsType := range []string{"inbound-rtp", "outbound-rtp"} {
			logs := plog.NewLogs()
			stats(logs, "demo", statsType, "video", map[string]any{field: 1.0})
			a := newAggregates(1)
			a.observe(logs)
			histograms, _ := samples(t, a)
			var want []string
			if metric != "" && (statsType == "inbound-rtp" && !slices.Contains(outbound, field) || statsType == "outbound-rtp" && !slices.Contains(inbound, field)) {
				want = append(want, metric)
			}
			var got []string
			for name := range maps.Keys(counted(histograms)) {
				metric, _, _ := strings.Cut(name, "{")
				got = append(got, metric)
			}
			require.Equal(t, want, got, "%s of %s", field, statsType)
		}
	}
}

// TestInternalTelemetry: what is left out is counted by its number; nothing left out is no count.
func TestInternalTelemetry(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.WithoutCancel(t.Context()))) })
	builder, err := metadata.NewTelemetryBuilder(telemetry.NewTelemetrySettings())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	cfg.MaxApps = 1
	e := newExporter(cfg, telemetry.NewTelemetrySettings(), builder)
	e.agg.issues.most = 2
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
	send("b", "3", "4", "5")
	metadatatest.AssertEqualQostimeseriesUntrackedIssues(t, telemetry, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQostimeseriesOverflowRecords(t, telemetry, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp())
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
	e := newExporter(cfg, componenttest.NewNopTelemetrySettings(), builder)
	require.ErrorContains(t, e.start(t.Context(), componenttest.NewNopHost()), "scrape endpoint "+cfg.NetAddr.Endpoint)
	require.NoError(t, e.shutdown(t.Context()))
}

// TestExpositionFormat: a scraper is given the format that it reads.
func TestExpositionFormat(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "127.0.0.1:0"
	builder, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e := newExporter(cfg, componenttest.NewNopTelemetrySettings(), builder)
	require.NoError(t, e.start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.shutdown(context.WithoutCancel(t.Context()))) })
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
