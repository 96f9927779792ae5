package series

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// call is a session's records: the resource and scope with the labels of a fabric.
func call(logs plog.Logs, resource, scope map[string]any) plog.LogRecordSlice {
	rl := logs.ResourceLogs().AppendEmpty()
	sl := rl.ScopeLogs().AppendEmpty()
	for _, err := range []error{rl.Resource().Attributes().FromRaw(resource), sl.Scope().Attributes().FromRaw(scope)} {
		if err != nil {
			panic(err)
		}
	}
	return sl.LogRecords()
}

func put(records plog.LogRecordSlice, event string, attrs map[string]any) plog.LogRecord {
	r := records.AppendEmpty()
	r.SetEventName(event)
	r.SetTimestamp(pcommon.NewTimestampFromTime(testNow))
	r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", "c1")))
	r.SetSpanID(pcommon.SpanID(semconv.SpanID("s1", 1)))
	if err := r.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
	return r
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// TestLabelsOfAFabric: session, fabric and relay label what a fabric does; the relay is that of the
// newest candidate pair.
//
// spec: OUT-01
func TestLabelsOfAFabric(t *testing.T) {
	logs := plog.NewLogs()
	records := call(logs, map[string]any{semconv.AppID: "demo", semconv.SiteID: `Köln "3"\`, semconv.ApplicationVersion: "1.2", semconv.UserAgent: firefox},
		map[string]any{semconv.FabricUsage: "multiplex", semconv.RemoteEndpointType: "server"})
	level := func(rttMs float64) {
		put(records, semconv.EventStats, map[string]any{
			semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", eventtest.Stats("rttMs"): rttMs,
			semconv.QualityLabel: "poor", semconv.IntervalMs: 2500.0,
		})
	}
	level(100)
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":750,"localCandidateType":"relay","relayProtocol":"tcp"}`})
	level(200)
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "selectedCandidatePairChange", semconv.EventData: `{"localCandidateType":"host","remoteCandidateType":"relay"}`})
	level(400)
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{"stage":"dtls"}`})
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionStart"})
	put(records, semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	put(records, semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 5})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	histograms, others := samples(t, a)
	stream := func(relay string) string {
		return `qos_stream_rtt_seconds{app="demo",site="Köln \"3\"\\",media="audio",direction="inbound",usage="multiplex",endpoint_type="server",relay="` + relay + `"}`
	}
	require.Equal(t, map[string]distribution{
		stream("unknown"): {0.1, 1, "0.1"}, stream("tcp"): {0.2, 1, "0.2"}, stream("none"): {0.4, 1, "0.5"},
		`qos_fabric_setup_delay_seconds{app="demo",site="Köln \"3\"\\",browser="firefox",endpoint_type="server",relay="tcp"}`: {0.75, 1, "0.75"},
	}, withValues(histograms))
	require.Equal(t, map[string]float64{
		`qos_stream_seconds_total{app="demo",site="Köln \"3\"\\",media="audio",direction="inbound",label="poor"}`:               7.5,
		`qos_fabric_setup_failures_total{app="demo",site="Köln \"3\"\\",browser="firefox",endpoint_type="server",stage="dtls"}`: 1,
		`qos_ice_disruptions_total{app="demo",site="Köln \"3\"\\",browser="firefox",endpoint_type="server"}`:                    1,
		`qos_reported_errors_total{app="demo",application_version="1.2",browser="firefox",function="createOffer"}`:              1,
		`qos_feedback_total{app="demo",site="Köln \"3\"\\",rating="5"}`:                                                         1,
		`qos_measurements_total{app="demo"}`: 3, `qos_client_dropped_frames_total{app="demo"}`: 0,
	}, others)
}

// TestLabelsOfAConference: the summary's own attributes label a conference, those of each client its
// participants; issues have the site of the participant.
//
// spec: OUT-01, CONF-02
func TestLabelsOfAConference(t *testing.T) {
	logs := plog.NewLogs()
	sum := summary(1)
	sum[semconv.SummarySite], sum[semconv.SummaryVersion], sum[semconv.SummaryAdded] = "north", "mixed", 5
	sum[semconv.SummaryClients] = []any{
		map[string]any{"site": "north", "version": "1", "browser": "chrome", "browser_version": "142", "count": 2},
		map[string]any{"site": "north", "version": "2", "browser": "netscape", "browser_version": "x\n", "count": 1},
		map[string]any{"site": "north", "version": "2", "browser": "netscape", "count": 1},
		map[string]any{"site": "north", "version": "9", "count": 1},
	}
	record(logs, "demo", semconv.EventSummary, sum)
	record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: "a", semconv.IssueState: "raised", semconv.IssueKind: "highJitter", semconv.IssueSite: "south"})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	_, others := samples(t, a)
	require.Equal(t, map[string]float64{
		`qos_conferences_total{app="demo",site="north",application_version="mixed",outcome="success"}`:                   1,
		`qos_conference_causes_total{app="demo",site="north",application_version="mixed",cause="senderUplink"}`:          1,
		`qos_participants_total{app="demo",site="north",application_version="1",browser="chrome",browser_version="142"}`: 2,
		`qos_participants_total{app="demo",site="north",application_version="2",browser="other"}`:                        1,
		`qos_participants_total{app="demo",site="north",application_version="9"}`:                                        1,
		`qos_participants_total{app="demo",site="north"}`:                                                                1, // whose client is unknown
		`qos_issues_total{app="demo",site="north",kind="highPacketLoss"}`:                                                3,
		`qos_issues_total{app="demo",site="north",kind="frozenVideo"}`:                                                   1,
		`qos_issues_raised_total{app="demo",site="south",kind="highJitter"}`:                                             1,
		`qos_open_issues{app="demo",site="south",kind="highJitter"}`:                                                     1,
	}, others)
}

func fromSite(app, site string, n int) plog.Logs {
	logs := plog.NewLogs()
	records := call(logs, map[string]any{semconv.AppID: app, semconv.SiteID: site}, nil)
	for range n {
		put(records, semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 1})
	}
	return logs
}

// TestBudget: series beyond a metric's budget count in one series of their app; other metrics and
// the series that exist keep theirs. An app with fewer series takes the room of one.
//
// spec: OUT-01
func TestBudget(t *testing.T) {
	a := &aggregates{New(Config{MaxApps: 10, MaxSeries: 3, SeriesIdleTimeout: time.Hour}, testNow)}
	for i := range 5 {
		left := a.Observe(fromSite("demo", fmt.Sprint("site", i), i+1), testNow.Add(time.Duration(i)*time.Second))
		if i < 3 {
			require.Zero(t, left)
		} else {
			require.Equal(t, Left{Overflow: map[string]int64{"qos_feedback_total": int64(i + 1)}}, left)
		}
	}
	require.Equal(t, Left{Displaced: map[string]int64{"qos_feedback_total": 1}}, a.observe(fromSite("next", "site0", 2)))
	require.Equal(t, Left{Overflow: map[string]int64{"qos_feedback_total": 4}}, a.observe(fromSite("next", "site1", 4)))
	require.Zero(t, a.observe(fromSite("demo", "site1", 10)))
	logs := plog.NewLogs()
	record(logs, "next", semconv.EventError, map[string]any{})
	require.Zero(t, a.observe(logs))
	_, others := samples(t, a)
	require.Equal(t, map[string]float64{
		`qos_feedback_total{app="demo",site="site1",rating="1"}`:     12,
		`qos_feedback_total{app="demo",site="site2",rating="1"}`:     3,
		`qos_feedback_total{app="demo",otel_metric_overflow="true"}`: 9,
		`qos_feedback_total{app="next",site="site0",rating="1"}`:     2,
		`qos_feedback_total{app="next",otel_metric_overflow="true"}`: 4,
		`qos_reported_errors_total{app="next",function="other"}`:     1,
	}, others)
}

// TestIdleSeriesLeave: a series leaves when it had no value for the timeout, makes room in the budget,
// and begins again at zero; an open issue keeps its series; an app leaves with its last series.
//
// spec: OUT-01
func TestIdleSeriesLeave(t *testing.T) {
	a := New(Config{MaxApps: 1, MaxSeries: 1, SeriesIdleTimeout: time.Hour}, testNow)
	at := testNow.Add
	a.Observe(fromSite("demo", "old", 2), at(0))
	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: "a", semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
	a.Observe(logs, at(0))
	gone := func(d time.Duration) map[string]int64 {
		out := map[string]int64{}
		for i, n := range a.Sweep(at(d)) {
			if n > 0 {
				out[semconv.Metrics[i].Name] = n
			}
		}
		return out
	}
	require.Empty(t, gone(time.Hour))
	a.Observe(fromSite("demo", "old", 1), at(time.Minute))
	require.Equal(t, map[string]int64{"qos_issues_raised_total": 1}, gone(time.Hour+time.Minute))
	require.Equal(t, map[string]int64{"qos_feedback_total": 1}, gone(time.Hour+time.Minute+1))
	require.Zero(t, a.Observe(fromSite("demo", "new", 3), at(2*time.Hour)))
	logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().PutStr(semconv.IssueState, "resolved")
	a.Observe(logs, at(2*time.Hour))
	_, others := samples(t, &aggregates{a})
	require.Equal(t, map[string]float64{
		`qos_feedback_total{app="demo",site="new",rating="1"}`: 3, `qos_open_issues{app="demo",kind="highJitter"}`: 0,
	}, others)
	require.Len(t, gone(4*time.Hour), 2)
	require.Zero(t, a.Observe(fromSite("other app", "x", 1), at(4*time.Hour)), "the app has left")
}

// TestBadInput: a record whose time or count cannot be, or that lacks an attribute, is dropped with its reason and makes no
// series.
//
// spec: OUT-01
func TestBadInput(t *testing.T) {
	drop := func(reason Reason, logs plog.Logs) {
		t.Helper()
		a := newAggregates(10)
		var want Left
		want.Dropped[reason] = 1
		require.Equal(t, want, a.observe(logs))
		require.Empty(t, exposition(t, a))
	}
	for _, year := range []int{1970, 1971, 2025, 2027, 2100, 2261} {
		logs := fromSite("demo", "site", 1)
		logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).SetTimestamp(pcommon.NewTimestampFromTime(time.Date(year, 1, 1, 0, 0, 1, 0, time.UTC)))
		drop(ReasonTime, logs)
	}
	for key, reason := range map[string]Reason{
		semconv.SummaryRevision: ReasonAttribute, semconv.SummaryStart: ReasonAttribute, semconv.SummaryEnd: ReasonAttribute, semconv.SummaryOutcome: ReasonAttribute,
	} {
		sum, logs := summary(1), plog.NewLogs()
		delete(sum, key)
		record(logs, "demo", semconv.EventSummary, sum)
		drop(reason, logs)
	}
	for _, end := range []any{0, int64(math.MaxInt64), int64(1_000_000 + 1e10 + 1), 999_999} {
		sum, logs := summary(1), plog.NewLogs()
		sum[semconv.SummaryEnd] = end
		record(logs, "demo", semconv.EventSummary, sum)
		drop(ReasonValue, logs)
	}
	logs := plog.NewLogs()
	record(logs, "demo", semconv.EventEvent, map[string]any{})
	drop(ReasonAttribute, logs)
}

// TestClockJumps: a collector's clock that goes back or far ahead drops what cannot be, and counts
// again when it is right; nothing leaves before its time.
func TestClockJumps(t *testing.T) {
	a := newAggregates(10)
	a.observe(fromSite("demo", "site", 1))
	for _, jump := range []time.Duration{-400 * 24 * time.Hour, 400 * 24 * time.Hour, 1<<63 - 1, -1 << 63} {
		require.Equal(t, int64(1), a.Observe(fromSite("demo", "other", 1), testNow.Add(jump)).Dropped[ReasonTime], jump)
	}
	require.Zero(t, a.observe(fromSite("demo", "site", 1)))
	require.Contains(t, exposition(t, a), `qos_feedback_total{app="demo",site="site",rating="1"} 2`)
}

// TestOpenMetrics: exemplars name the conference and the time of the newest value of each bucket.
//
// spec: OUT-01
func TestOpenMetrics(t *testing.T) {
	logs := plog.NewLogs()
	records := call(logs, map[string]any{semconv.AppID: "demo"}, nil)
	for i, setup := range []string{"40", "45", "20000", "44"} {
		r := put(records, semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":` + setup + `}`})
		at := testNow.Add(time.Duration(i) * time.Second)
		if setup == "44" {
			at = testNow // older than the one before: stores refuse it
		}
		r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	}
	put(records, semconv.EventError, map[string]any{}).SetTraceID(pcommon.TraceID{})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	var b strings.Builder
	require.NoError(t, a.Write(&b, true))
	trace := fmt.Sprintf("%x", semconv.TraceID("demo", "c1"))
	out := b.String()
	for _, line := range []string{
		"# TYPE qos_reported_errors counter\n", "# TYPE qos_fabric_setup_delay_seconds histogram\n# UNIT qos_fabric_setup_delay_seconds seconds\n",
		`qos_reported_errors_total{app="demo",function="other"} 1` + "\n",
		`qos_fabric_setup_delay_seconds_bucket{app="demo",relay="unknown",le="0.05"} 3 # {trace_id="` + trace + `"} 0.045 1772600768.000` + "\n",
		`qos_fabric_setup_delay_seconds_bucket{app="demo",relay="unknown",le="0.1"} 3` + "\n",
		`qos_fabric_setup_delay_seconds_bucket{app="demo",relay="unknown",le="20"} 4 # {trace_id="` + trace + `"} 20 1772600769.000` + "\n",
		`qos_fabric_setup_delay_seconds_sum{app="demo",relay="unknown"} 20.129` + "\n",
	} {
		require.Contains(t, out, line)
	}
	require.True(t, strings.HasSuffix(out, "\n# EOF\n"))
	require.NotContains(t, exposition(t, a), "# {", "the text format has no exemplars")
}

// TestPerConference: only where it is asked for, streams have a series for each conference, within
// the budget.
//
// spec: OUT-01
func TestPerConference(t *testing.T) {
	a := New(Config{MaxApps: 1, MaxSeries: 2, Series: PerConference}, testNow)
	for _, id := range []string{"c1", "c2", "c3"} {
		logs := plog.NewLogs()
		records := call(logs, map[string]any{semconv.AppID: "demo"}, map[string]any{semconv.ConferenceID: id})
		put(records, semconv.EventStats, map[string]any{semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", eventtest.Stats("rttMs"): 10.0})
		left := a.Observe(logs, testNow)
		require.Equal(t, id == "c3", left.Overflow["qos_stream_rtt_seconds"] == 1)
	}
	out := exposition(t, &aggregates{a})
	require.Contains(t, out, `qos_stream_rtt_seconds_count{app="demo",media="audio",direction="inbound",relay="unknown",conference="c2"} 1`)
	require.Contains(t, out, `qos_stream_rtt_seconds_count{app="demo",otel_metric_overflow="true"} 1`)
	require.NotContains(t, out, "c3")
}
