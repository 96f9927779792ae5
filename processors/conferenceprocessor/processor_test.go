package conferenceprocessor

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadata"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadatatest"
)

// sink is the next component: it stores summaries and records separately, and refuses as set.
type sink struct {
	mu        sync.Mutex
	refuse    func(plog.Logs) error
	summaries []plog.LogRecord
	marked    []bool // of each record, whether it was marked as a repetition
	calls     int
}

func (*sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *sink) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	s.mu.Lock()
	refuse := s.refuse
	s.calls++
	s.mu.Unlock()
	if refuse != nil {
		if err := refuse(logs); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, record := range recordsOf(logs) {
		if record.EventName() == semconv.EventSummary {
			s.summaries = append(s.summaries, record)
			continue
		}
		if record.EventName() == semconv.EventIssue {
			continue
		}
		v, ok := record.Attributes().Get(semconv.Duplicate)
		s.marked = append(s.marked, ok && v.Bool())
	}
	return nil
}

func (s *sink) setRefuse(refuse func(plog.Logs) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

func (s *sink) take() (summaries []plog.LogRecord, marked []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	summaries, marked = s.summaries, s.marked
	s.summaries, s.marked = nil, nil
	return summaries, marked
}

func recordsOf(logs plog.Logs) (out []plog.LogRecord) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				out = append(out, record)
			}
		}
	}
	return out
}

func start(t *testing.T, next consumer.Logs, change func(*Config)) (*conferences, *componenttest.Telemetry) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.WithoutCancel(t.Context()))) })
	cfg := createDefaultConfig().(*Config)
	if change != nil {
		change(cfg)
	}
	c, err := newConferences(cfg, telemetry.NewTelemetrySettings(), next)
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
	return c, telemetry
}

// frame is one record of session "s" as the receiver makes it, at this moment.
func frame(seq int64, name string, fabric int64, attrs map[string]any) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	_ = resource.Resource().Attributes().FromRaw(map[string]any{
		semconv.AppID: "app", semconv.SessionID: "s", semconv.UserID: "Alice", semconv.UserAlias: "a1",
	})
	scope := resource.ScopeLogs().AppendEmpty()
	now := time.Now()
	_ = scope.Scope().Attributes().FromRaw(map[string]any{
		semconv.ConferenceID: "standup", semconv.ConferenceAt: now.UnixMilli(), semconv.FabricID: fabric,
		semconv.FabricUsage: "multiplex", semconv.RemoteUserID: "Bob", semconv.RemoteUserAlias: "b1",
	})
	addRecord(scope, seq, name, now, attrs)
	return logs
}

func addRecord(scope plog.ScopeLogs, seq int64, name string, now time.Time, attrs map[string]any) {
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(name)
	record.SetTimestamp(pcommon.NewTimestampFromTime(now))
	_ = record.Attributes().FromRaw(attrs)
	record.Attributes().PutInt(semconv.FrameSeq, seq)
	record.Attributes().PutInt(semconv.FrameIndex, 0)
}

func happened(seq int64, name, data string) plog.Logs {
	return frame(seq, semconv.EventEvent, 1, map[string]any{semconv.EventName: name, semconv.EventData: data})
}

// advance moves the time of a synctest bubble on, and waits until all is still.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// liveIn returns the number of live conferences while the processor's goroutine runs.
func liveIn(c *conferences) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set.Live()
}

func document(t *testing.T, record plog.LogRecord) (s conference.Summary) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(record.Body().Str()), &s))
	return s
}

// TestSummaryAfterSilence drives a call of one measurement to its end by silence.
//
// spec: CONF-02, CONF-03
func TestSummaryAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, nil)
		begin := time.Now()
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", `{"alreadyConnected":false}`)))
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(2, "fabricSetup", `{"setupMs":900}`)))
		advance(10 * time.Second)
		require.NoError(t, c.ConsumeLogs(t.Context(), frame(3, semconv.EventStats, 1, map[string]any{
			semconv.IntervalMs: 10_000.0, semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio",
			eventtest.Stats("ssrc"): int64(7), eventtest.Stats("codec"): "opus", eventtest.Stats("packets"): int64(450), eventtest.Stats("packetsLost"): int64(50),
			eventtest.Stats("jitterMs"): 3.5, semconv.QualityMOS: 2.5, semconv.QualityLabel: "bad",
		})))
		advance(30 * time.Second)
		summaries, marked := next.take()
		require.Empty(t, summaries, "30 s are not over")
		require.Equal(t, []bool{false, false, false}, marked)
		advance(2 * time.Second)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		checkRecord(t, summaries[0], begin)
		s := document(t, summaries[0])
		require.Equal(t, "Alice", s.Participants[0].UserID)
		f := s.Participants[0].Fabrics[0]
		require.Equal(t, "Bob", f.RemoteUserID)
		require.Equal(t, begin.UnixMilli(), f.AddedAtMs)
		require.InDelta(t, 900, *f.SetupMs, 0)
		require.InDelta(t, 0.1, *f.Streams[0].LossFraction, 0)
		require.Equal(t, "opus", f.Streams[0].Codec)
		require.Equal(t, int64(7), f.Streams[0].SSRC)
		require.InDelta(t, 3.5, f.Streams[0].JitterMs.Mean, 0)
		require.Equal(t, conference.IssueHighPacketLoss, s.Issues[0].Kind)
		require.NoError(t, c.Shutdown(t.Context()))
		metadatatest.AssertEqualProcessorConferenceEnded(t, telemetry, []metricdata.DataPoint[int64]{
			{Value: 1, Attributes: attribute.NewSet(attribute.String("outcome", "dropped"))},
		}, metricdatatest.IgnoreTimestamp())
	})
}

func checkRecord(t *testing.T, record plog.LogRecord, begin time.Time) {
	t.Helper()
	end := begin.Add(10 * time.Second)
	require.Equal(t, end.UnixMilli(), record.Timestamp().AsTime().UnixMilli())
	require.Equal(t, pcommon.TraceID(semconv.TraceID("app", "standup")), record.TraceID())
	attrs := record.Attributes().AsRaw()
	checkDigest(t, attrs[semconv.SummaryDigest])
	delete(attrs, semconv.SummaryDigest)
	require.Equal(t, map[string]any{
		semconv.SummaryStart: begin.UnixMilli(), semconv.SummaryEnd: end.UnixMilli(), semconv.SummaryRevision: int64(1),
		semconv.SummaryOutcome: "dropped", semconv.SummaryParticipants: int64(1), semconv.SummaryAdded: int64(1), semconv.SummaryMOS: 2.5, semconv.SummaryLabel: "bad", semconv.SummaryCause: "pathOrTurn",
		semconv.SummaryIssuesPrefix + conference.IssueHighPacketLoss: int64(1), semconv.SummaryIssuesPrefix + conference.IssueLowQuality: int64(1),
	}, attrs)
}

func checkDigest(t *testing.T, attribute any) {
	t.Helper()
	var d digest.Digest
	require.NoError(t, new(digest.Decoder).Decode(attribute.([]byte), &d))
	require.Equal(t, []any{"dropped", 2.5, "bad", "pathOrTurn", 1}, []any{d.Outcome, d.MOS, d.Label, d.Cause, len(d.Members)})
}

// TestRefusedIsMarked: an error is returned. A refused record is in no conference, but is marked
// when it arrives again, because an exporter beside the one that refused has counted it.
//
// spec: SRV-03
func TestRefusedIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, nil)
		refusal := errors.New("no room")
		next.setRefuse(func(plog.Logs) error { return refusal })
		require.ErrorIs(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "{}")), refusal)
		require.Zero(t, c.set.Len())
		require.Empty(t, c.inFlight)
		next.setRefuse(nil)
		for range 2 {
			require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "{}")))
		}
		_, marked := next.take()
		require.Equal(t, []bool{true, true}, marked)
		require.Equal(t, 1, c.set.Len(), "it counts now")
		require.Empty(t, c.inFlight)
		require.Empty(t, c.refused.young)
		metadatatest.AssertEqualProcessorConferenceDuplicates(t, telemetry,
			[]metricdata.DataPoint[int64]{{Value: 2}}, metricdatatest.IgnoreTimestamp())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestRefusedIsBounded: the oldest frames are dropped, and accepted ones make no room.
func TestRefusedIsBounded(t *testing.T) {
	var r frameSet
	for seq := range uint64(3 * maxFrames) {
		r.add(frameID{"s", seq})
		r.add(frameID{"s", seq})
	}
	require.Len(t, r.young, maxFrames)
	require.Len(t, r.old, maxFrames)
	require.False(t, r.has(frameID{"s", 0}))
	for _, seq := range []uint64{maxFrames, 3*maxFrames - 1} {
		require.True(t, r.has(frameID{"s", seq}))
		r.remove(frameID{"s", seq})
		require.False(t, r.has(frameID{"s", seq}))
	}
}

// TestRepetitionInOneBatchAndInFlight: a record that arrives again before the first was
// accepted is a repetition, too.
func TestRepetitionInOneBatchAndInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		batch := happened(5, "fabricAdded", "{}")
		scope := batch.ResourceLogs().At(0).ScopeLogs().At(0)
		for _, seq := range []int64{7, 6, 7, 8, 5} {
			addRecord(scope, seq, semconv.EventEvent, time.Now(), map[string]any{semconv.EventName: "customEvent"})
		}
		hold := make(chan struct{})
		next.setRefuse(func(plog.Logs) error { <-hold; return nil })
		var done sync.WaitGroup
		for range 2 {
			again := plog.NewLogs()
			batch.CopyTo(again)
			done.Go(func() { require.NoError(t, c.ConsumeLogs(t.Context(), again)) })
			synctest.Wait() // the first is in flight before the second arrives
		}
		close(hold)
		done.Wait()
		_, marked := next.take()
		count := map[bool]int{}
		for _, m := range marked {
			count[m]++
		}
		require.Equal(t, map[bool]int{false: 4, true: 8}, count)
		require.Empty(t, c.inFlight)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestSummaryIsTriedAgain: a summary that the next component refuses waits.
func TestSummaryIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricTerminated", "{}")))
		next.setRefuse(func(plog.Logs) error { return errors.New("no room") })
		advance(5500 * time.Millisecond)
		summaries, _ := next.take()
		require.Empty(t, summaries)
		next.setRefuse(nil)
		advance(time.Second)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestOneBadSummaryTakesNoOtherAlong: only a summary that is refused permanently is dropped.
func TestOneBadSummaryTakesNoOtherAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, nil)
		for i, id := range []string{"good", "bad", "fine"} {
			logs := happened(int64(i+1), "fabricTerminated", "{}")
			logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, id)
			require.NoError(t, c.ConsumeLogs(t.Context(), logs))
		}
		next.setRefuse(func(logs plog.Logs) error {
			for _, scope := range logs.ResourceLogs().At(0).ScopeLogs().All() {
				if eventlog.Text(scope.Scope().Attributes(), semconv.ConferenceID) == "bad" {
					return consumererror.NewPermanent(errors.New("bad"))
				}
			}
			return nil
		})
		advance(1500 * time.Millisecond)
		summaries, _ := next.take()
		require.Len(t, summaries, 2)
		metadatatest.AssertEqualProcessorConferenceDropped(t, telemetry, []metricdata.DataPoint[int64]{
			{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", "summary_refused"))},
		}, metricdatatest.IgnoreTimestamp())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestWaitingSummariesAreBounded: the oldest are dropped and counted.
func TestWaitingSummariesAreBounded(t *testing.T) {
	next := &sink{refuse: func(plog.Logs) error { return errors.New("no room") }}
	c, telemetry := start(t, next, nil)
	require.NoError(t, c.Shutdown(t.Context())) // the outbox is ours now
	dropped := int64(0)
	c.out.drop = func(_ context.Context, n int64, reason string) {
		require.Equal(t, reasonFull, reason)
		dropped += n
	}
	c.out.add(t.Context(), make([]conference.Summary, maxWaiting+7))
	c.out.flush(t.Context(), time.Now())
	require.Len(t, c.out.waiting, maxWaiting)
	require.Equal(t, int64(7), dropped)
	require.NotNil(t, telemetry)
}

// TestShutdownEndsNoConference: it emits the summaries of ended conferences only.
func TestShutdownEndsNoConference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "{}")))
		ended := happened(2, "fabricTerminated", "{}")
		ended.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, "ended")
		require.NoError(t, c.ConsumeLogs(t.Context(), ended))
		advance(time.Millisecond)
		require.NoError(t, c.Shutdown(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()), "twice is no harm")
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, "ended", document(t, summaries[0]).ConferenceID)
	})
}

// TestLiveConferencesAreMeasured also drops: the state is full, the records pass.
func TestLiveConferencesAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, func(cfg *Config) { cfg.MaxConferences = 1 })
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "{}")))
		other := happened(2, "fabricAdded", "{}")
		other.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, "other")
		require.NoError(t, c.ConsumeLogs(t.Context(), other))
		bad := happened(0, "fabricAdded", "{}")
		require.NoError(t, c.ConsumeLogs(t.Context(), bad))
		advance(1500 * time.Millisecond)
		_, marked := next.take()
		require.Equal(t, []bool{false, false, false}, marked)
		metadatatest.AssertEqualProcessorConferenceLive(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
		metadatatest.AssertEqualProcessorConferenceKept(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
		metadatatest.AssertEqualProcessorConferenceDropped(t, telemetry, []metricdata.DataPoint[int64]{
			{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", "full"))},
			{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", "invalid"))},
		}, metricdatatest.IgnoreTimestamp())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestLateDataRevises: a feedback after the end makes revision 2, counted as such.
//
// spec: CONF-02
func TestLateDataRevises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, nil)
		at := time.Now().UnixMilli()
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricTerminated", "{}")))
		advance(5 * time.Minute)
		late := frame(2, semconv.EventFeedback, 0, map[string]any{
			semconv.FeedbackUserID: "Alice", semconv.FeedbackOverall: int64(2), semconv.FeedbackAudio: int64(9), semconv.FeedbackComment: "echo",
		})
		late.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutInt(semconv.ConferenceAt, at)
		require.NoError(t, c.ConsumeLogs(t.Context(), late))
		advance(1500 * time.Millisecond)
		summaries, _ := next.take()
		require.Len(t, summaries, 2)
		s := document(t, summaries[1])
		require.Equal(t, 2, s.Revision)
		require.Equal(t, at, s.EndMs)
		rating := s.Participants[0].Feedback[0]
		require.Equal(t, "echo", rating.Comment)
		require.Equal(t, 2, *rating.Overall)
		require.Nil(t, rating.Audio, "9 is no score")
		metadatatest.AssertEqualProcessorConferenceRevised(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestOtherRecordsPass: records of other sources are neither marked nor counted.
func TestOtherRecordsPass(t *testing.T) {
	next := new(sink)
	c, _ := start(t, next, nil)
	require.NoError(t, c.ConsumeLogs(t.Context(), frame(1, "device.app.lifecycle", 1, nil)))
	require.NoError(t, c.ConsumeLogs(t.Context(), plog.NewLogs()))
	require.Zero(t, c.set.Len())
	require.NoError(t, c.Shutdown(t.Context()))
	require.Equal(t, 2, next.calls)
}

func TestVerifyShutdown(t *testing.T) {
	processortest.VerifyShutdown(t, NewFactory(), createDefaultConfig())
	require.Equal(t, metadata.Type, NewFactory().Type())
}
