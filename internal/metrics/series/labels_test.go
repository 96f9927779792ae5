package series

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// labelled is a record whose one value is a label of a metric.
type labelled struct {
	metric, label string
	known         []string // each has a series of its own
	record        func(value string) (event string, attrs map[string]any)
}

func summaryWith(key string) func(string) (string, map[string]any) {
	return func(value string) (string, map[string]any) {
		attrs := map[string]any{semconv.SummaryRevision: 1, semconv.SummaryStart: 1, semconv.SummaryEnd: 2, semconv.SummaryOutcome: "success"}
		attrs[key] = value
		return semconv.EventSummary, attrs
	}
}

var labelledMetrics = []labelled{
	{semconv.MetricErrors, semconv.LabelFunction, protocol.Functions, func(value string) (string, map[string]any) {
		return semconv.EventError, map[string]any{semconv.ErrorFunction: value}
	}},
	{semconv.MetricFabricSetupFailed, semconv.LabelStage, []string{"noRemoteDescription", "gathering", "connectivity", "dtls"}, func(value string) (string, map[string]any) {
		return semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: fmt.Sprintf(`{"stage":%q}`, value)}
	}},
	{semconv.MetricConferences, semconv.LabelOutcome, conference.Outcomes, summaryWith(semconv.SummaryOutcome)},
	{semconv.MetricConferenceCauses, semconv.LabelCause, words(cause.Causes), summaryWith(semconv.SummaryCause)},
}

// odd returns values that no label may have: near to one that is known, and any.
func odd(known []string) []string {
	values := []string{"other", strings.ToUpper(known[0]), known[0] + " ", known[0] + "\x00", `x"} 1` + "\nqos_fake 1", "ü"}
	for i := range 300 {
		values = append(values, fmt.Sprint("value", i))
	}
	return values
}

// TestLabelsAreClosed: each known value counts under itself, and all others, however many,
// under "other".
//
// spec: OUT-01
func TestLabelsAreClosed(t *testing.T) {
	for _, l := range labelledMetrics {
		t.Run(l.metric, func(t *testing.T) {
			require.NotEmpty(t, l.known)
			logs, want := plog.NewLogs(), map[string]float64{}
			series := func(value string) string { return fmt.Sprintf("%s{app=\"demo\",%s=%q}", l.metric, l.label, value) }
			for i, value := range l.known {
				for range i + 1 {
					event, attrs := l.record(value)
					record(logs, "demo", event, attrs)
				}
				want[series(value)] = float64(i + 1)
			}
			for _, value := range odd(l.known) {
				event, attrs := l.record(value)
				record(logs, "demo", event, attrs)
				want[series("other")]++
			}
			a := newAggregates(10)
			a.observe(logs)
			_, others := samples(t, a)
			got := map[string]float64{}
			for name, value := range others {
				if strings.HasPrefix(name, l.metric+"{") {
					got[name] = value
				}
			}
			require.Equal(t, want, got)
		})
	}
}

// TestKindsAreClosed: an issue of no known kind has no series, neither in a summary nor live.
//
// spec: OUT-01
func TestKindsAreClosed(t *testing.T) {
	logs, want := plog.NewLogs(), map[string]float64{}
	sum := summary(1)
	for key := range sum {
		if strings.HasPrefix(key, semconv.SummaryIssuesPrefix) {
			delete(sum, key)
		}
	}
	for i, kind := range words(detect.Kinds) {
		sum[semconv.SummaryIssuesPrefix+kind] = i + 1
		want[fmt.Sprintf(`qos_issues_total{app="demo",kind=%q}`, kind)] = float64(i + 1)
		for n := range i + 2 {
			record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: fmt.Sprint(kind, n), semconv.IssueState: "raised", semconv.IssueKind: kind})
		}
		want[fmt.Sprintf(`qos_issues_raised_total{app="demo",kind=%q}`, kind)] = float64(i + 2)
		want[fmt.Sprintf(`qos_open_issues{app="demo",kind=%q}`, kind)] = float64(i + 2)
	}
	for i, kind := range append(odd(words(detect.Kinds)), "") {
		sum[semconv.SummaryIssuesPrefix+kind] = 1
		record(logs, "demo", semconv.EventIssue, map[string]any{semconv.IssueID: fmt.Sprint("odd", i), semconv.IssueState: "raised", semconv.IssueKind: kind})
	}
	record(logs, "demo", semconv.EventSummary, sum)
	a := newAggregates(10)
	require.Equal(t, [NumReasons]int64{ReasonAttribute: int64(len(odd(words(detect.Kinds))) + 1)}, a.observe(logs).Dropped)
	_, others := samples(t, a)
	got := map[string]float64{}
	for name, value := range others {
		if strings.Contains(name, ",kind=") {
			got[name] = value
		}
	}
	require.Equal(t, want, got)
}

// TestRatingsAreClosed: whole numbers from 1 to 5 are ratings.
//
// spec: OUT-01
func TestRatingsAreClosed(t *testing.T) {
	logs := plog.NewLogs()
	for _, overall := range []any{1, 2, 2, 3, 4, 5, 5.0, 0, 6, -1, 10, math.NaN(), math.Inf(1), 1e300, "4", true, nil} {
		record(logs, "demo", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: overall})
	}
	record(logs, "demo", semconv.EventFeedback, map[string]any{})
	a := newAggregates(10)
	a.observe(logs)
	_, others := samples(t, a)
	got := map[string]float64{}
	for name, value := range others {
		if rating, ok := strings.CutPrefix(name, `qos_feedback_total{app="demo",rating=`); ok {
			got[rating] = value
		}
	}
	require.Equal(t, map[string]float64{`"1"}`: 1, `"2"}`: 2, `"3"}`: 1, `"4"}`: 1, `"5"}`: 2}, got)
}

// TestAppsBeyondTheBound: the first max_apps applications keep series of their own, all that
// others send is counted under "other", by value, and the records are counted.
//
// spec: OUT-01
func TestAppsBeyondTheBound(t *testing.T) {
	a, over := newAggregates(DefaultConfig().MaxApps), int64(0)
	send := func(app string, rttMs float64) {
		logs := plog.NewLogs()
		stats(logs, app, "inbound-rtp", "audio", map[string]any{eventtest.Stats("rttMs"): rttMs})
		record(logs, app, semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
		over += a.observe(logs).Overflow[AllMetrics]
	}
	for i := range 205 {
		send(fmt.Sprintf("app%03d", i), float64(1000+i))
	}
	send("app000", 2000) // known before the bound was reached
	histograms, others := samples(t, a)
	errorsOf := func(app string) float64 {
		return others[fmt.Sprintf(`qos_reported_errors_total{app=%q,function="createOffer"}`, app)]
	}
	rttOf := func(app string) distribution {
		return histograms[fmt.Sprintf(`qos_stream_rtt_seconds{app=%q,media="audio",direction="inbound",relay="unknown"}`, app)]
	}
	require.Equal(t, distribution{3, 2, "1"}, rttOf("app000"))
	require.Equal(t, distribution{1.199, 1, "2"}, rttOf("app199"))
	require.Equal(t, distribution{}, rttOf("app200"))
	require.Equal(t, distribution{6.01, 5, "2"}, rttOf("other"))
	require.Equal(t, []float64{2, 1, 0, 5}, []float64{errorsOf("app000"), errorsOf("app199"), errorsOf("app200"), errorsOf("other")})
	require.EqualValues(t, 10, over)
}

// TestRecordsOfNoApp: without an application nothing is counted, not even under "other".
func TestRecordsOfNoApp(t *testing.T) {
	logs := plog.NewLogs()
	record(logs, "", semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	a := newAggregates(1)
	require.Equal(t, Left{Dropped: [NumReasons]int64{ReasonAttribute: 1}}, a.observe(logs))
	require.Empty(t, exposition(t, a))
}

// TestCountable: what is below 0, or past the bound by the least step, is no number that anything counts.
func TestCountable(t *testing.T) {
	most := 1e10
	past := math.Nextafter(most, math.Inf(1))
	for _, v := range []float64{0, math.Copysign(0, -1), 1, math.SmallestNonzeroFloat64, most, math.Nextafter(most, 0)} {
		require.True(t, countable(v), v)
	}
	for _, v := range []float64{past, -past, -1, -math.SmallestNonzeroFloat64, 1e11, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		require.False(t, countable(v), v)
	}
	for given, want := range map[any]float64{
		0: 0, 1: 1, -1: 0, 7.9: 7, 0.9: 0, -0.9: 0, most: 1e10, past: 0, int64(1e10): 1e10, int64(1e10 + 1): 0, math.MaxInt64: 0, math.MinInt64: 0,
		math.Inf(1): 0, "5": 0, true: 0, nil: 0,
	} {
		attrs := pcommon.NewMap()
		require.NoError(t, attrs.FromRaw(map[string]any{"n": given}))
		require.Equal(t, want, whole(attrs, "n"), "%v", given)
	}
	require.Zero(t, whole(pcommon.NewMap(), "n"))
}

// TestAbsurdValuesSpoilNoSum: a field past the bound is left out, alone; at the bound it counts.
//
// spec: OUT-01
func TestAbsurdValuesSpoilNoSum(t *testing.T) {
	fields := []string{semconv.QualityMOS, eventtest.Stats("jitterMs"), eventtest.Stats("rttMs"), eventtest.Stats("packets"), eventtest.Stats("packetsLost")}
	series := []string{"qos_stream_mos", "qos_stream_jitter_seconds", "qos_stream_rtt_seconds", "qos_stream_loss_ratio", "qos_stream_loss_ratio"}
	for i, field := range fields {
		for _, absurd := range []float64{1e10 + 2e-6, -1e10 - 2e-6, math.Inf(1), math.Inf(-1), math.NaN()} {
			attrs := map[string]any{}
			for n, other := range fields {
				attrs[other] = float64(n + 1)
			}
			attrs[field] = absurd
			logs := plog.NewLogs()
			stats(logs, "demo", "inbound-rtp", "audio", attrs)
			a := newAggregates(1)
			a.observe(logs)
			histograms, _ := samples(t, a)
			var empty []string
			for name, d := range histograms {
				if metric, _, _ := strings.Cut(name, "{"); strings.HasPrefix(metric, "qos_stream") && d.count == 0 {
					require.Zero(t, d.sum)
					empty = append(empty, metric)
				}
			}
			require.Equal(t, []string{series[i]}, slices.Sorted(slices.Values(empty)), "%s %v", field, absurd)
		}
	}
	for _, event := range []map[string]any{
		{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":10000000001}`},
		{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":-1}`},
	} {
		logs := plog.NewLogs()
		record(logs, "demo", semconv.EventEvent, event)
		a := newAggregates(1)
		a.observe(logs)
		histograms, _ := samples(t, a)
		require.Empty(t, withValues(histograms))
	}
}
