package timeseriestest

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Post sends logs to an OTLP receiver over HTTP, and returns when they are counted.
func Post(t *testing.T, address string, logs plog.Logs) {
	t.Helper()
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	require.NoError(t, err)
	resp, err := Client.Post("http://"+address+"/v1/logs", "application/x-protobuf", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// add adds a record of the conference to logs.
func add(logs plog.Logs, conference, event string, attrs map[string]any) {
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(semconv.AppID, "demo")
	rl.Resource().Attributes().PutStr(semconv.SiteID, `"Nord\Süd"`)
	r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(event)
	r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", conference)))
	if err := r.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
}

// Ratings returns so many ratings of 5.
func Ratings(n int) plog.Logs {
	logs := plog.NewLogs()
	for range n {
		add(logs, "rated", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 5})
	}
	return logs
}

// Odd are characters that no label can have. Each is for the end of a text.
var Odd = []string{"\x00", "\t", "\n", "\r\n", "\x1b", "\x7f", "\u0085", "\u009f", "\u2028", "\u2029", "\xff", "\xc3"}

// OddRatings returns a rating for each of Odd, at the end of the siteID Berlin. They have other labels than those of Ratings.
func OddRatings() plog.Logs {
	logs := plog.NewLogs()
	for i, end := range Odd {
		add(logs, "rated", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 1})
		logs.ResourceLogs().At(i).Resource().Attributes().PutStr(semconv.SiteID, "Berlin"+end)
	}
	return logs
}

// Call returns records of known values, for a series of each metric.
func Call() plog.Logs {
	logs := plog.NewLogs()
	add(logs, "c1", semconv.EventStats, map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.MediaType: "video", semconv.QualityMOS: 2.5, semconv.QualityLabel: "bad", semconv.IntervalMs: 5000.0,
		eventtest.Stats("rttMs"): 120.0, eventtest.Stats("jitterMs"): 40.0, eventtest.Stats("packets"): 90, eventtest.Stats("packetsLost"): 10, eventtest.Stats("packetsDiscarded"): -1,
	})
	add(logs, "c1", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":2750,"localCandidateType":"host"}`})
	add(logs, "c1", semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	add(logs, "c1", semconv.EventSummary, map[string]any{
		semconv.SummaryRevision: 1, semconv.SummaryStart: 1_000_000, semconv.SummaryEnd: 1_090_500, semconv.SummaryOutcome: "dropped",
		semconv.SummaryCause: "senderUplink", semconv.SummaryAdded: 3, semconv.SummaryMOS: 2.25, semconv.SummaryIssuesPrefix + "highJitter": 4,
	})
	add(logs, "c1", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{"stage":"dtls"}`})
	add(logs, "c1", semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionStart"})
	add(logs, "", semconv.EventPreCall, map[string]any{semconv.PreCallStatus: "success", semconv.PreCallProviders: []any{map[string]any{
		semconv.ProviderName: "eu-1", semconv.ProviderAcceptable: true,
		semconv.ProviderRTTMs: 45.0, semconv.ProviderLossFraction: 0.02, semconv.ProviderThroughputBps: 2e6,
	}}})
	add(logs, "c1", semconv.EventIssue, map[string]any{semconv.IssueID: "i1", semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
	return logs
}

// Expected are queries, and their values after Call. Each sum is in the unit of its metric's name.
var Expected = map[string]float64{
	`sum(qos_measurements_total{app="demo"})`:                                                         1,
	`sum(qos_stream_mos_sum{media="video",direction="inbound",relay="unknown",site="\"Nord\\Süd\""})`: 2.5,
	`sum(qos_out_of_range_values_total{measure="packetsDiscarded"})`:                                  1,
	`sum(qos_stream_rtt_seconds_sum)`:                                                                 0.12,
	`sum(qos_stream_jitter_seconds_sum)`:                                                              0.04,
	`sum(qos_stream_loss_ratio_sum)`:                                                                  0.1,
	`sum(qos_stream_loss_ratio_bucket{le="0.05"})`:                                                    0,
	`sum(qos_stream_loss_ratio_bucket{le="0.1"})`:                                                     1,
	`sum(qos_stream_loss_ratio_bucket{le="+Inf"})`:                                                    1,
	`sum(qos_stream_seconds_total{label="bad"})`:                                                      5,
	`sum(qos_fabric_setup_delay_seconds_sum{relay="none"})`:                                           2.75,
	`sum(qos_fabric_setup_delay_seconds_count)`:                                                       1,
	`sum(qos_reported_errors_total{function="createOffer"})`:                                          1,
	`sum(qos_conferences_total{outcome="dropped"})`:                                                   1,
	`sum(qos_conference_causes_total{cause="senderUplink"})`:                                          1,
	`sum(qos_conference_duration_seconds_sum)`:                                                        90.5,
	`sum(qos_conference_mos_sum)`:                                                                     2.25,
	`sum(qos_participants_total)`:                                                                     3,
	`sum(qos_issues_total{kind="highJitter"})`:                                                        4,
	`sum(qos_issues_raised_total{kind="highJitter"})`:                                                 1,
	`sum(qos_open_issues{kind="highJitter"})`:                                                         1,
	`sum(qos_precall_rtt_seconds_sum{provider="eu-1"})`:                                               0.045,
	`sum(qos_precall_loss_ratio_sum)`:                                                                 0.02,
	`sum(qos_precall_throughput_bytes_per_second_sum)`:                                                250_000,
	`histogram_quantile(0.5, sum by (le) (qos_fabric_setup_delay_seconds_bucket))`:                    2.5,
}
