package conferenceprocessor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadatatest"
	"github.com/qosrtc/qos/storage"
)

// emitted is one emitted issue.
type emitted struct {
	plog.LogRecord
	scope plog.ScopeLogs
	app   string
	at    time.Time
}

func (i emitted) text(name string) string { return eventlog.Text(i.Attributes(), name) }

// issueSink accepts all records, and stores the issues separately.
type issueSink struct {
	sink
	lock   sync.Mutex
	issues []emitted
}

func (s *issueSink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *issueSink) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	if err := s.sink.ConsumeLogs(ctx, logs); err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				if record.EventName() == semconv.EventIssue {
					s.issues = append(s.issues, emitted{record, scope, eventlog.Text(resource.Resource().Attributes(), semconv.AppID), time.Now()})
				}
			}
		}
	}
	return nil
}

// takeIssues returns the issues that were emitted since the last call.
func (s *issueSink) takeIssues() (all []emitted) {
	s.lock.Lock()
	defer s.lock.Unlock()
	all, s.issues = s.issues, nil
	return all
}

// measureFor passes on a measurement each 5 s.
func measureFor(t *testing.T, c *conferences, seq *int64, d time.Duration, lost int64) {
	t.Helper()
	for range d / (5 * time.Second) {
		*seq++
		require.NoError(t, c.ConsumeLogs(t.Context(), frame(*seq, semconv.EventStats, 1, lossy(lost))))
		advance(5 * time.Second)
	}
}

// lossy is a measurement of 5 s in which so many of 250 packets were lost.
func lossy(lost int64) map[string]any {
	return map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.IntervalMs: 5000.0, eventtest.Stats("ssrc"): int64(7),
		eventtest.Stats("packets"): 250 - lost, eventtest.Stats("packetsLost"): lost,
	}
}

// TestIssuesAreReportedLive: raised within an interval, resolved once, each with all attributes
// that a subscriber needs; they do not prolong the conference, and are no records of it.
//
// spec: CONF-03, CONF-02
func TestIssuesAreReportedLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(issueSink)
		c, telemetry := start(t, next, nil)
		seq, began := int64(0), time.Now()
		measureFor(t, c, &seq, time.Minute, 0)
		require.Empty(t, next.takeIssues())
		measureFor(t, c, &seq, time.Minute, 50)
		issues := next.takeIssues()
		require.Len(t, issues, 1)
		raised := issues[0]
		require.Equal(t, "raised", raised.text(semconv.IssueState))
		require.LessOrEqual(t, raised.at, began.Add(time.Minute+(8+5+15+1)*time.Second))
		require.Equal(t, "app", raised.app)
		require.Equal(t, semconv.TraceID("app", "standup"), [16]byte(raised.TraceID()))
		require.Equal(t, semconv.SpanID("s", 1), [8]byte(raised.SpanID()))
		require.Equal(t, map[string]any{semconv.ConferenceID: "standup", semconv.FabricID: int64(1)}, raised.scope.Scope().Attributes().AsRaw())
		have := raised.Attributes().AsRaw()
		require.InDelta(t, began.Add(55*time.Second).UnixMilli(), have[semconv.IssueSince], 2000)
		for name, want := range map[string]any{
			semconv.IssueKind: "highPacketLoss", semconv.IssueSession: "s", semconv.IssueUserID: "Alice", semconv.IssueUserAlias: "a1",
			semconv.IssueSSRC: int64(7), semconv.MediaType: "audio", semconv.IssueDirection: "inbound", semconv.IssueMetric: "loss_fraction",
			semconv.IssueValue: 0.2, semconv.IssueWorst: 0.2, semconv.IssueThreshold: 0.03, semconv.IssueConfidence: "high",
		} {
			require.Equal(t, want, have[name], name)
		}
		require.NotContains(t, have, semconv.Duplicate)

		measureFor(t, c, &seq, time.Minute, 0)
		issues = next.takeIssues()
		require.Len(t, issues, 1)
		require.Equal(t, "resolved", issues[0].text(semconv.IssueState))
		require.Equal(t, raised.text(semconv.IssueID), issues[0].text(semconv.IssueID))
		end := time.Now().Add(-5 * time.Second)
		advance(time.Minute)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, end.UnixMilli(), document(t, summaries[0]).EndMs, "issues prolong nothing")
		require.Empty(t, next.takeIssues())
		state := func(name string) metricdata.DataPoint[int64] {
			return metricdata.DataPoint[int64]{Value: 1, Attributes: attribute.NewSet(attribute.String("state", name))}
		}
		metadatatest.AssertEqualProcessorConferenceIssues(t, telemetry, []metricdata.DataPoint[int64]{state("raised"), state("resolved")}, metricdatatest.IgnoreTimestamp())

		// Another conference processor behind this one passes them on.
		again := new(issueSink)
		second, _ := start(t, again, nil)
		logs := plog.NewLogs()
		raised.scope.CopyTo(logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty())
		require.NoError(t, second.ConsumeLogs(t.Context(), logs))
		require.Len(t, again.takeIssues(), 1)
		require.Zero(t, second.set.Len())
		require.NoError(t, second.Shutdown(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestTheIntervalIsTheOperators: it is the evaluation interval, and 0 disables evaluations.
//
// spec: CONF-03
func TestTheIntervalIsTheOperators(t *testing.T) {
	f := func(interval time.Duration, want int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			next := new(issueSink)
			c, telemetry := start(t, next, func(cfg *Config) { cfg.Issues.Interval = interval })
			seq := int64(0)
			measureFor(t, c, &seq, 2*time.Minute, 50)
			var evaluations int64
			if m, err := telemetry.GetMetric("otelcol_processor_conference_evaluations"); err == nil {
				evaluations = m.Data.(metricdata.Sum[int64]).DataPoints[0].Value
			}
			require.InDelta(t, want, evaluations, 1)
			require.Equal(t, want > 0, len(next.takeIssues()) > 0)
			require.NoError(t, c.Shutdown(t.Context()))
		})
	}
	f(15*time.Second, 8)
	f(time.Minute, 2)
	f(0, 0)
}

// TestIssuesWaitForTheNextComponent: in order, and marked when they are sent again; those that it
// refuses permanently are counted.
//
// spec: CONF-03
func TestIssuesWaitForTheNextComponent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(issueSink)
		c, telemetry := start(t, next, nil)
		refuse := func(err error) func(plog.Logs) error {
			return func(logs plog.Logs) error {
				for _, record := range recordsOf(logs) {
					if record.EventName() == semconv.EventIssue {
						return err
					}
				}
				return nil
			}
		}
		next.setRefuse(refuse(errors.New("later")))
		seq := int64(0)
		measureFor(t, c, &seq, time.Minute, 50)
		measureFor(t, c, &seq, time.Minute, 0)
		require.Empty(t, next.takeIssues())
		next.setRefuse(nil)
		advance(2 * time.Second)
		issues := next.takeIssues()
		require.Len(t, issues, 2)
		for i, state := range []string{"raised", "resolved"} {
			require.Equal(t, state, issues[i].text(semconv.IssueState))
			mark, ok := issues[i].Attributes().Get(semconv.Duplicate)
			require.True(t, ok && mark.Bool())
		}
		next.setRefuse(refuse(consumererror.NewPermanent(errors.New("never"))))
		measureFor(t, c, &seq, time.Minute, 50)
		metadatatest.AssertEqualProcessorConferenceDropped(t, telemetry, []metricdata.DataPoint[int64]{
			{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", reasonIssueRefused))},
		}, metricdatatest.IgnoreTimestamp())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestARestartReadsBeforeItRaises: an issue that began before is reported again, with its stored
// beginning, and marked; none is reported while the store cannot be read.
//
// spec: CONF-03, SRV-03
func TestARestartReadsBeforeItRaises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		store, next := &fakeStore{err: errors.New("away"), session: "s"}, new(issueSink)
		store.found = storage.Conference{AppID: "app", ConferenceID: "standup", Start: begin, End: begin.Add(50 * time.Second)}
		for i := range 10 {
			store.records = append(store.records, storage.Record{
				Seq: uint64(i + 1), ConferenceID: "standup", ConferenceAt: begin, Fabric: 1, Name: semconv.EventStats, Activity: true,
				At: begin.Add(time.Duration(i+1) * 5 * time.Second), Attributes: lossy(50),
			})
		}
		<-time.After(time.Minute)
		c, err := startWith(t, store, next)
		require.NoError(t, err)
		seq := int64(100)
		measureFor(t, c, &seq, time.Minute, 50)
		require.Empty(t, next.takeIssues(), "the earlier records are unknown")
		store.change(func() { store.err = nil })
		measureFor(t, c, &seq, 30*time.Second, 50)
		issues := next.takeIssues()
		require.Len(t, issues, 1)
		since, _ := eventlog.Integer(issues[0].Attributes(), semconv.IssueSince)
		require.InDelta(t, begin.UnixMilli(), since, 2000)
		mark, ok := issues[0].Attributes().Get(semconv.Duplicate)
		require.True(t, ok && mark.Bool(), "it may have been reported before")
		reads := store.count()
		measureFor(t, c, &seq, time.Minute, 0)
		issues = next.takeIssues()
		require.Len(t, issues, 1)
		require.Equal(t, string(live.IssueResolved), issues[0].text(semconv.IssueState))
		require.NotContains(t, issues[0].Attributes().AsRaw(), semconv.Duplicate)
		require.Equal(t, reads, store.count(), "it is read once")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
