package timeseriesexporter

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/semconv"
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

func stats(logs plog.Logs, app, statsType, media string, attrs map[string]any) {
	attrs[semconv.StatsType] = statsType
	if media != "" {
		attrs[semconv.MediaType] = media
	}
	record(logs, app, semconv.EventStats, attrs)
}

func summary(revision int) map[string]any {
	return map[string]any{
		semconv.SummaryStart: 1_000_000, semconv.SummaryEnd: 1_045_000, semconv.SummaryRevision: revision,
		semconv.SummaryOutcome: "success", semconv.SummaryCause: "senderUplink", semconv.SummaryParticipants: 2, semconv.SummaryAdded: 2, semconv.SummaryMOS: 4.25,
		semconv.SummaryIssuesPrefix + "highPacketLoss": 3, semconv.SummaryIssuesPrefix + "frozenVideo": 1,
		semconv.SummaryIssuesPrefix + "x\"} 1\nqos_fake": 1,
	}
}

func exposition(t *testing.T, a *aggregates) string {
	t.Helper()
	var b strings.Builder
	a.metrics.WritePrometheus(&b)
	return b.String()
}

// spec: OUT-01
func TestAggregatesOfStreams(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{
		semconv.Stats("packets"): 90, semconv.Stats("packetsLost"): 10, semconv.Stats("jitterMs"): 12.0,
		semconv.Stats("rttMs"): 40.0, semconv.QualityMOS: 3.1,
	})
	stats(logs, "demo", "outbound-rtp", "video", map[string]any{
		semconv.Stats("packets"): 500, semconv.Stats("remoteLossFraction"): 0.04, semconv.Stats("remoteJitterMs"): 4.0,
	})
	stats(logs, "demo", "candidate-pair", "", map[string]any{semconv.Stats("rttMs"): 40.0})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	out := exposition(t, a)
	for _, line := range []string{
		`qos_measurements_total{app="demo"} 3`,
		`qos_stream_mos_bucket{app="demo",media="audio",direction="inbound",le="2.9"} 0`,
		`qos_stream_mos_bucket{app="demo",media="audio",direction="inbound",le="3.2"} 1`,
		`qos_stream_loss_ratio_sum{app="demo",media="audio",direction="inbound"} 0.1`,
		`qos_stream_jitter_seconds_sum{app="demo",media="audio",direction="inbound"} 0.012`,
		`qos_stream_rtt_seconds_count{app="demo",media="audio",direction="inbound"} 1`,
		`qos_stream_loss_ratio_sum{app="demo",media="video",direction="outbound"} 0.04`,
		`qos_stream_mos_count{app="demo",media="video",direction="outbound"} 0`,
	} {
		require.Contains(t, out, line)
	}
}

// A stream that received nothing and lost nothing has no loss, rather than none.
func TestNoLossWithoutPackets(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{semconv.Stats("packets"): 0, semconv.Stats("packetsLost"): 0})
	a := newAggregates(10)
	a.observe(logs)
	require.Contains(t, exposition(t, a), `qos_stream_loss_ratio_count{app="demo",media="audio",direction="inbound"} 0`)
}

// spec: OUT-01, CONF-02, CONF-04
func TestAggregatesOfConferences(t *testing.T) {
	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventSummary, summary(1))
	again := summary(2) // a revision is not another conference
	again[semconv.SummaryAdded] = 0
	record(logs, "demo", semconv.EventSummary, again)
	record(logs, "demo", semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	record(logs, "demo", semconv.EventError, map[string]any{semconv.ErrorFunction: "x\"} 1\nqos_fake 1"})
	record(logs, "demo", semconv.EventLog, map[string]any{semconv.LogText: "not a failure"})
	record(logs, "demo", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 4})
	record(logs, "demo", semconv.EventSkip, map[string]any{semconv.SkipStats: 9, semconv.SkipEvents: 1})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":350}`})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":null}`})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{"stage":"dtls"}`})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionStart"})
	a := newAggregates(10)
	a.observe(logs)
	out := exposition(t, a)
	for _, line := range []string{
		`qos_conferences_total{app="demo",outcome="success"} 1`,
		`qos_conference_causes_total{app="demo",cause="senderUplink"} 1`,
		`qos_participants_total{app="demo"} 2`,
		`qos_conference_duration_seconds_sum{app="demo"} 45`,
		`qos_conference_mos_count{app="demo"} 1`,
		`qos_issues_total{app="demo",kind="highPacketLoss"} 3`,
		`qos_issues_total{app="demo",kind="frozenVideo"} 1`,
		`qos_reported_errors_total{app="demo",function="createOffer"} 1`,
		`qos_reported_errors_total{app="demo",function="other"} 1`,
		`qos_feedback_total{app="demo",rating="4"} 1`,
		`qos_client_dropped_frames_total{app="demo"} 10`,
		`qos_fabric_setup_delay_seconds_sum{app="demo"} 0.35`,
		`qos_fabric_setup_delay_seconds_count{app="demo"} 1`,
		`qos_fabric_setup_failures_total{app="demo",stage="dtls"} 1`,
		`qos_ice_disruptions_total{app="demo"} 1`,
	} {
		require.Contains(t, out, line+"\n")
	}
	require.NotContains(t, out, "qos_fake")
}

func TestDuplicatesAreNotCounted(t *testing.T) {
	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer", semconv.Duplicate: true})
	a := newAggregates(10)
	a.observe(logs)
	require.NotContains(t, exposition(t, a), "createOffer")
}

func TestAppsAreBounded(t *testing.T) {
	logs := plog.NewLogs()
	for _, app := range []string{"a", "b", "c", "d", "a"} {
		stats(logs, app, "candidate-pair", "", map[string]any{})
	}
	a := newAggregates(2)
	require.Equal(t, uncounted{overflow: 2}, a.observe(logs))
	out := exposition(t, a)
	require.Contains(t, out, `qos_measurements_total{app="a"} 2`)
	require.Contains(t, out, `qos_measurements_total{app="other"} 2`)
	require.NotContains(t, out, `app="c"`)
}

// Every metric that the exporter can serve is documented, and the other way round.
func TestMetricsAreDocumented(t *testing.T) {
	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventSummary, summary(1))
	record(logs, "demo", semconv.EventError, map[string]any{})
	record(logs, "demo", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 4})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{}`})
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{})
	record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: "a", semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
	a := newAggregates(10)
	a.observe(logs)
	served := map[string]bool{}
	for _, full := range a.metrics.ListMetricNames() {
		base, _, _ := strings.Cut(full, "{")
		served[base] = true
	}
	documented := map[string]bool{}
	for _, m := range semconv.Metrics {
		documented[m.Name] = true
	}
	require.Equal(t, documented, served)
}

func TestScrapeEndpoint(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "localhost:0"
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e := newExporter(cfg, exportertest.NewNopSettings(metadata.Type).TelemetrySettings, telemetry)
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
		e := newExporter(cfg, exportertest.NewNopSettings(metadata.Type).TelemetrySettings, telemetry)
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

// TestLateParticipants: each is counted once, whichever revision they appear in first; a
// conference is counted by its first alone.
//
// spec: OUT-01, CONF-02
func TestLateParticipants(t *testing.T) {
	a := newAggregates(10)
	for _, revision := range []struct{ number, participants, added int }{{1, 2, 2}, {2, 2, 0}, {3, 4, 2}, {4, 3, 0}} {
		logs := plog.NewLogs()
		attrs := summary(revision.number)
		attrs[semconv.SummaryParticipants], attrs[semconv.SummaryAdded] = revision.participants, revision.added
		record(logs, "demo", semconv.EventSummary, attrs)
		attrs[semconv.Duplicate] = true
		record(logs, "demo", semconv.EventSummary, attrs)
		a.observe(logs)
	}
	out := exposition(t, a)
	require.Contains(t, out, `qos_participants_total{app="demo"} 4`+"\n")
	require.Contains(t, out, `qos_conferences_total{app="demo",outcome="success"} 1`+"\n")
}

func BenchmarkObserve(b *testing.B) {
	logs := plog.NewLogs()
	for range 8 {
		stats(logs, "demo", "inbound-rtp", "audio", map[string]any{
			semconv.Stats("packets"): 500, semconv.Stats("packetsLost"): 1, semconv.Stats("jitterMs"): 12.0,
			semconv.Stats("rttMs"): 40.0, semconv.QualityMOS: 4.1,
		})
	}
	a := newAggregates(10)
	b.ReportAllocs()
	for b.Loop() {
		a.observe(logs)
	}
}
