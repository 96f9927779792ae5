package series

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// testNow is the time of the collector in tests.
var testNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// aggregates is a set of which records without times are counted at testNow.
type aggregates struct{ *Set }

func newAggregates(maxApps int) *aggregates {
	cfg := DefaultConfig()
	cfg.MaxApps = maxApps
	return &aggregates{New(cfg, testNow)}
}

func (a *aggregates) observe(logs plog.Logs) Left { return a.Observe(logs, testNow) }

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
	require.NoError(t, a.Write(&b, false))
	return b.String()
}
