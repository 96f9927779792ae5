package series

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// spec: OUT-01
func TestAggregatesOfStreams(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{
		eventtest.Stats("packets"): 90, eventtest.Stats("packetsLost"): 10, eventtest.Stats("jitterMs"): 12.0,
		eventtest.Stats("rttMs"): 40.0, semconv.QualityMOS: 3.1,
	})
	stats(logs, "demo", "outbound-rtp", "video", map[string]any{
		eventtest.Stats("packets"): 500, eventtest.Stats("remoteLossFraction"): 0.04, eventtest.Stats("remoteJitterMs"): 4.0,
	})
	stats(logs, "demo", "candidate-pair", "", map[string]any{eventtest.Stats("rttMs"): 40.0})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	out := exposition(t, a)
	for _, line := range []string{
		`qos_measurements_total{app="demo"} 3`,
		`qos_stream_mos_bucket{app="demo",media="audio",direction="inbound",relay="unknown",le="2.9"} 0`,
		`qos_stream_mos_bucket{app="demo",media="audio",direction="inbound",relay="unknown",le="3.2"} 1`,
		`qos_stream_loss_ratio_sum{app="demo",media="audio",direction="inbound",relay="unknown"} 0.1`,
		`qos_stream_jitter_seconds_sum{app="demo",media="audio",direction="inbound",relay="unknown"} 0.012`,
		`qos_stream_rtt_seconds_count{app="demo",media="audio",direction="inbound",relay="unknown"} 1`,
		`qos_stream_loss_ratio_sum{app="demo",media="video",direction="outbound",relay="unknown"} 0.04`,
		`qos_stream_mos_count{app="demo",media="video",direction="outbound",relay="unknown"} 0`,
	} {
		require.Contains(t, out, line)
	}
}

// A stream that received nothing and lost nothing has no loss, rather than none.
func TestNoLossWithoutPackets(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{eventtest.Stats("packets"): 0, eventtest.Stats("packetsLost"): 0})
	a := newAggregates(10)
	a.observe(logs)
	require.Contains(t, exposition(t, a), `qos_stream_loss_ratio_count{app="demo",media="audio",direction="inbound",relay="unknown"} 0`)
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
		`qos_fabric_setup_delay_seconds_sum{app="demo",relay="unknown"} 0.35`,
		`qos_fabric_setup_delay_seconds_count{app="demo",relay="unknown"} 1`,
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
	require.Equal(t, Left{Overflow: map[string]int64{AllMetrics: 2}}, a.observe(logs))
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
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{semconv.QualityLabel: "good", semconv.IntervalMs: 5000, eventtest.Stats("rttMs"): 65_536_000.0})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":1}`})
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionStart"})
	record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: "a", semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
	record(logs, "demo", semconv.EventPreCall, preCall("success", provider("eu-1", true, map[string]any{semconv.ProviderRTTMs: 1})))
	a := newAggregates(10)
	a.observe(logs)
	served := map[string]bool{}
	a.Each(func(m *Metric, _ []Point) bool {
		served[m.Name] = true
		return true
	})
	documented := map[string]bool{}
	for _, m := range semconv.Metrics {
		documented[m.Name] = true
	}
	require.Equal(t, documented, served)
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
			eventtest.Stats("packets"): 500, eventtest.Stats("packetsLost"): 1, eventtest.Stats("jitterMs"): 12.0,
			eventtest.Stats("rttMs"): 40.0, semconv.QualityMOS: 4.1,
		})
	}
	a := newAggregates(10)
	b.ReportAllocs()
	for b.Loop() {
		a.observe(logs)
	}
}

// TestBucketBounds: dashboards and alerts name these bounds.
//
// spec: OUT-01
func TestBucketBounds(t *testing.T) {
	logs := plog.NewLogs()
	stats(logs, "demo", "inbound-rtp", "audio", map[string]any{})
	record(logs, "demo", semconv.EventSummary, summary(1))
	record(logs, "demo", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":1}`})
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
		semconv.QualityMOS: "qos_stream_mos", eventtest.Stats("rttMs"): "qos_stream_rtt_seconds",
		eventtest.Stats("jitterMs"): "qos_stream_jitter_seconds",
		eventtest.Stats("packets"):  "", eventtest.Stats("packetsLost"): "", eventtest.Stats("remotePacketsLost"): "", // each alone makes no ratio
		eventtest.Stats("remoteJitterMs"): "qos_stream_jitter_seconds", eventtest.Stats("remoteLossFraction"): "qos_stream_loss_ratio",
	}
	outbound := []string{eventtest.Stats("remoteJitterMs"), eventtest.Stats("remoteLossFraction")}
	inbound := []string{eventtest.Stats("jitterMs")}
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
			for name := range maps.Keys(withValues(histograms)) {
				metric, _, _ := strings.Cut(name, "{")
				got = append(got, metric)
			}
			require.Equal(t, want, got, "%s of %s", field, statsType)
		}
	}
}
