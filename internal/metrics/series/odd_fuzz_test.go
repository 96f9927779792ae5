package series

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/kit/oddvalue"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// everyEvent is a call with a record of each kind.
func everyEvent() plog.Logs {
	logs := plog.NewLogs()
	records := call(logs, map[string]any{semconv.AppID: "demo", semconv.SiteID: "north", semconv.ApplicationVersion: "1", semconv.UserAgent: firefox},
		map[string]any{semconv.ConferenceID: "c1", semconv.FabricUsage: "audio", semconv.RemoteEndpointType: "peer"})
	put(records, semconv.EventStats, map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.QualityMOS: 4.0, semconv.QualityLabel: "good", semconv.IntervalMs: 5000.0,
		eventtest.Stats("rttMs"): 10.0, eventtest.Stats("jitterMs"): 10.0, eventtest.Stats("packets"): 10, eventtest.Stats("packetsLost"): 1,
	})
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":5}`})
	put(records, semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{"stage":"dtls"}`})
	put(records, semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	put(records, semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 3})
	put(records, semconv.EventSkip, map[string]any{semconv.SkipStats: 3, semconv.SkipEvents: 1})
	sum := summary(1)
	sum[semconv.SummarySite], sum[semconv.SummaryClients] = "north", []any{map[string]any{"site": "north", "count": 1}}
	put(records, semconv.EventSummary, sum)
	put(records, semconv.EventIssue, map[string]any{semconv.IssueID: "a", semconv.IssueState: "raised", semconv.IssueKind: "highJitter", semconv.IssueSite: "north"})
	return logs
}

// line is a line of the exposition: closed names, quoted values, one number.
var line = regexp.MustCompile(`^qos_[a-z_]+\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)+\} [0-9.e+-]+\n$`)

func spoil(t *rapid.T, attrs pcommon.Map) {
	var names []string
	for name := range attrs.All() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return
	}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "names") {
		if v, ok := attrs.Get(name); ok {
			oddvalue.Draw(t, v)
		}
	}
}

// oddRecords spoils a call. Nothing panics, each record makes a bounded number of series, all of
// valid lines, and no sum decreases.
func oddRecords(t *rapid.T) {
	a := New(DefaultConfig(), testNow)
	records, before := 0, map[string]float64{}
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		logs := everyEvent()
		rl := logs.ResourceLogs().At(0)
		spoil(t, rl.Resource().Attributes())
		spoil(t, rl.ScopeLogs().At(0).Scope().Attributes())
		for _, r := range rl.ScopeLogs().At(0).LogRecords().All() {
			spoil(t, r.Attributes())
			if rapid.IntRange(0, 5).Draw(t, "time") == 0 {
				r.SetTimestamp(pcommon.Timestamp(rapid.Uint64().Draw(t, "ns")))
			}
			records++
		}
		left := a.Observe(logs, testNow.Add(time.Duration(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "jump"))))
		var dropped int64
		for _, n := range left.Dropped {
			dropped += n
		}
		require.LessOrEqual(t, dropped, int64(logs.LogRecordCount()))
		before = grown(t, a, before, records)
	}
}

func grown(t *rapid.T, a *Set, before map[string]float64, records int) map[string]float64 {
	var b strings.Builder
	require.NoError(t, a.Write(&b, false))
	require.True(t, utf8.ValidString(b.String()))
	for one := range strings.Lines(b.String()) {
		require.True(t, strings.HasPrefix(one, "# ") || line.MatchString(one), "%q", one)
	}
	after := map[string]float64{}
	a.Each(func(m *Metric, points []Point) bool {
		most := records
		if m.Name == semconv.MetricConferences {
			most *= len(outcomes) // which begin together
		}
		require.LessOrEqual(t, len(points), most)
		for i := range points {
			key := m.Name
			var keySb99 strings.Builder
			for _, l := range points[i].Labels {
				keySb99.WriteString("\x00" + l.Name + "\x00" + l.Value)
			}
			key += keySb99.String()
			after[key] = points[i].Value
			require.False(t, math.IsNaN(points[i].Value) || math.IsInf(points[i].Value, 0))
			require.GreaterOrEqual(t, points[i].Value, before[key], key)
		}
		return true
	})
	return after
}

// TestOddRecords: attributes of other types than ours, and times that cannot be, are no harm.
//
// spec: OUT-01
func TestOddRecords(t *testing.T) { rapid.Check(t, oddRecords) }

// FuzzObserve is TestOddRecords led by what code the records reach.
func FuzzObserve(f *testing.F) { rapidfuzz.Run(f, oddRecords) }
