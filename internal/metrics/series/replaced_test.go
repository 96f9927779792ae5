package series

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// outside are the labels whose values clients choose, each with a call of one record that has the label.
var outside = map[string]struct {
	label string
	logs  func(value string) plog.Logs
}{
	"siteID of a session":  {semconv.LabelSite, ofSession(semconv.SiteID, semconv.EventFeedback)},
	"version of a session": {semconv.LabelVersion, ofSession(semconv.ApplicationVersion, semconv.EventError)},
	"app":                  {semconv.LabelApp, ofSession(semconv.AppID, semconv.EventError)},
	"site of a summary":    {semconv.LabelSite, ofRecord(semconv.EventSummary, func(attrs map[string]any, v string) { attrs[semconv.SummarySite] = v })},
	"version of a summary": {semconv.LabelVersion, ofRecord(semconv.EventSummary, func(attrs map[string]any, v string) { attrs[semconv.SummaryVersion] = v })},
	"site of a client":     {semconv.LabelSite, ofRecord(semconv.EventSummary, client("site"))},
	"version of a client":  {semconv.LabelVersion, ofRecord(semconv.EventSummary, client("version"))},
	"site of an issue": {semconv.LabelSite, ofRecord(semconv.EventIssue, func(attrs map[string]any, v string) {
		attrs[semconv.IssueSite], attrs[semconv.IssueID], attrs[semconv.IssueState], attrs[semconv.IssueKind] = v, "i", "raised", "highJitter"
	})},
	"provider": {semconv.LabelProvider, ofRecord(semconv.EventPreCall, func(attrs map[string]any, v string) {
		attrs[semconv.PreCallStatus] = "success"
		attrs[semconv.PreCallProviders] = []any{provider(v, true, map[string]any{semconv.ProviderRTTMs: 20.0})}
	})},
	"conference of a stream": {semconv.LabelConference, ofConference},
}

func ofSession(key, event string) func(string) plog.Logs {
	return func(value string) plog.Logs {
		logs, resource := plog.NewLogs(), map[string]any{semconv.AppID: "demo"}
		resource[key] = value
		put(call(logs, resource, nil), event, map[string]any{semconv.FeedbackOverall: 3, semconv.ErrorFunction: "createOffer"})
		return logs
	}
}

func ofRecord(event string, set func(attrs map[string]any, v string)) func(string) plog.Logs {
	return func(value string) plog.Logs {
		logs, attrs := plog.NewLogs(), map[string]any{}
		if event == semconv.EventSummary {
			attrs = summary(1)
		}
		set(attrs, value)
		put(call(logs, map[string]any{semconv.AppID: "demo"}, nil), event, attrs)
		return logs
	}
}

func client(key string) func(map[string]any, string) {
	return func(attrs map[string]any, v string) {
		attrs[semconv.SummaryClients] = []any{map[string]any{key: v, "count": 2}}
	}
}

func ofConference(value string) plog.Logs {
	logs := plog.NewLogs()
	put(call(logs, map[string]any{semconv.AppID: "demo"}, map[string]any{semconv.ConferenceID: value}), semconv.EventStats, map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", eventtest.Stats("rttMs"): 10.0, semconv.QualityLabel: "good", semconv.IntervalMs: 5000.0,
	})
	return logs
}

// sumsOf observes a call twice and returns the sums of each metric, and the values of a label.
func sumsOf(t require.TestingT, logs plog.Logs, label string) (sums map[string]float64, values map[string]bool, left Left) {
	cfg := DefaultConfig()
	cfg.Series = PerConference
	a := New(cfg, testNow)
	left = a.Observe(logs, testNow)
	a.Observe(logs, testNow)
	sums, values = map[string]float64{}, map[string]bool{}
	a.Each(func(m *Metric, points []Point) bool {
		for i := range points {
			sums[m.Name] += points[i].Value
			for _, l := range points[i].Labels {
				values[l.Value] = values[l.Value] || l.Name == label
			}
		}
		return true
	})
	var b strings.Builder
	require.NoError(t, a.Write(&b, false))
	for one := range strings.Lines(b.String()) {
		require.True(t, strings.HasPrefix(one, "# ") || line.MatchString(one), "%q", one)
	}
	return sums, values, left
}

// requireReplaced checks that a text counts as a plain one does, and that its label shows the replacement.
func requireReplaced(t require.TestingT, name, text, want string) {
	from := outside[name]
	plain, _, none := sumsOf(t, from.logs("plain"), from.label)
	require.True(t, none.Empty(), name)
	sums, values, left := sumsOf(t, from.logs(text), from.label)
	require.Equal(t, plain, sums, "%s: %q", name, text)
	require.Equal(t, Left{Replaced: 1}, left, "%s: %q", name, text)
	require.True(t, values[want], "%s: %q has %v", name, text, values)
}

// TestReplacedLabels: whatever a label's text contains, its records count. Each control character, line separator and byte that
// is no UTF-8, and the end of a text that is too long, becomes U+FFFD.
//
// spec: OUT-01
func TestReplacedLabels(t *testing.T) {
	bad := []string{"\xff", "\xc3", "\xed\xa0\x80", "\u2028", "\u2029", "\r\n", "\x00\x1f\x7f\u0085\u2028\xfe"}
	for r := range unicode.MaxLatin1 {
		if unicode.IsControl(r) {
			bad = append(bad, string(r))
		}
	}
	for name := range outside {
		for _, one := range bad {
			requireReplaced(t, name, "Berlin"+one, "Berlin\ufffd")
			requireReplaced(t, name, one+"B"+one+"lin", "\ufffdB\ufffdlin")
		}
		requireReplaced(t, name, strings.Repeat("x", 257), strings.Repeat("x", 253)+"\ufffd")
		requireReplaced(t, name, strings.Repeat("é", 1<<19), strings.Repeat("é", 126)+"\ufffd")
	}
}

// TestLabelsOfAnyText: a label is at most as long as it may be and has no character that it must not have. It is the text where that
// has none, and the label of a label is the same.
//
// spec: OUT-01
func TestLabelsOfAnyText(t *testing.T) {
	parts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\x00-\x20\x7f-\x9f]{1,9}`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"Köln", "\u2028", "\u2029", "東京", "🙂", "a\u200db", strings.Repeat("x", 250)}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 6).Draw(t, "parts"), "")
		value, replaced := label(text)
		require.LessOrEqual(t, len(value), 256)
		require.True(t, utf8.ValidString(value))
		require.False(t, strings.ContainsFunc(value, unicode.IsControl) || strings.ContainsAny(value, "\u2028\u2029"))
		require.Equal(t, replaced, value != text)
		require.Equal(t, value == "", text == "")
		again, _ := label(value)
		require.Equal(t, value, again)
	})
}
