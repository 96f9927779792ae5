package timeseriesexporter

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// record adds one record of the app to logs.
func record(logs plog.Logs, app, event string, attrs map[string]any) {
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(semconv.AppID, app)
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetEventName(event)
	if err := lr.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
}

func summary(revision int) map[string]any {
	return map[string]any{
		semconv.SummaryStart: 1_000_000, semconv.SummaryEnd: 1_045_000, semconv.SummaryRevision: revision,
		semconv.SummaryOutcome: "success", semconv.SummaryCause: "senderUplink", semconv.SummaryParticipants: 2, semconv.SummaryAdded: 2, semconv.SummaryMOS: 4.25,
		semconv.SummaryIssuesPrefix + "highPacketLoss": 3, semconv.SummaryIssuesPrefix + "frozenVideo": 1,
		semconv.SummaryIssuesPrefix + "x\"} 1\nqos_fake": 1,
	}
}

func TestScrapeEndpoint(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "localhost:0"
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e, err := newExporter(t.Context(), cfg, exportertest.NewNopSettings(metadata.Type), telemetry)
	require.NoError(t, err)
	require.NoError(t, e.start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.shutdown(context.WithoutCancel(t.Context()))) })

	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventSummary, summary(1))
	require.NoError(t, e.consume(t.Context(), logs))

	resp, err := http.Get("http://" + e.addr + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, string(body), `qos_conferences_total{app="demo",outcome="success"} 1`)
	other, err := http.Get("http://" + e.addr + "/")
	require.NoError(t, err)
	defer other.Body.Close()
	require.Equal(t, http.StatusNotFound, other.StatusCode)
}

// TestScrapeEndpointOnLoopback: a web page in a browser of this machine cannot read it by
// pointing its own name there; who reaches it from elsewhere may have any name for it.
//
// spec: OUT-01
func TestScrapeEndpointOnLoopback(t *testing.T) {
	f := func(endpoint string, allowed []string, host string, status int) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		cfg.NetAddr.Endpoint, cfg.AllowedHosts = endpoint, allowed
		telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
		require.NoError(t, err)
		e, err := newExporter(t.Context(), cfg, exportertest.NewNopSettings(metadata.Type), telemetry)
		require.NoError(t, err)
		require.NoError(t, e.start(t.Context(), componenttest.NewNopHost()))
		defer func() { require.NoError(t, e.shutdown(context.WithoutCancel(t.Context()))) }()
		_, port, err := net.SplitHostPort(e.addr)
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/metrics", http.NoBody)
		require.NoError(t, err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, "%s asked as %s", endpoint, host)
	}
	f("127.0.0.1:0", nil, "localhost:8482", http.StatusOK)
	f("127.0.0.1:0", nil, "[::1]:8482", http.StatusOK)
	f("127.0.0.1:0", nil, "evil.example.org:8482", http.StatusMisdirectedRequest)
	f("localhost:0", nil, "evil.example.org", http.StatusMisdirectedRequest)
	f("localhost:0", []string{"metrics.example.org"}, "metrics.example.org", http.StatusOK)
	f("0.0.0.0:0", nil, "collector.example.org:8482", http.StatusOK)
}
