package conferenceprocessor

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
)

const (
	maxWaiting = 10_000 // summaries, or issues, that the next component has not taken
	perCall    = 100    // of them passed on together
)

// Reasons for giving up a summary, or an issue.
const (
	reasonFull    = "summaries_full"
	reasonRefused = "summary_refused"

	reasonIssuesFull   = "issues_full"
	reasonIssueRefused = "issue_refused"
	reasonIssuesOpen   = "issues_open" // of one conference: each time it is looked at

	reasonNotRestored = "not_restored" // not given up: it may cover a part
	reasonNotChecked  = "not_checked"  // not given up: another's summary may have taken its place
)

// outbox holds what the processor emits until the next component has taken it. Only one
// goroutine uses it.
type outbox[T any] struct {
	what          string // for the log, in the plural
	full, refused string // reasons
	next          consumer.Logs
	write         func(items []T, tried int, now time.Time) plog.Logs // marks the first tried as repetitions
	drop          func(ctx context.Context, n int64, reason string)
	sent          func(ctx context.Context, items []T, now time.Time)
	logger        *zap.Logger
	waiting       []T
	tried         int // so many of them were passed on and refused
}

// add takes items; the oldest go when there is no room.
func (o *outbox[T]) add(ctx context.Context, items []T) {
	o.waiting = append(o.waiting, items...)
	if over := len(o.waiting) - maxWaiting; over > 0 {
		clear(o.waiting[:over])
		o.waiting = o.waiting[over:]
		o.tried = max(0, o.tried-over)
		o.drop(ctx, int64(over), o.full)
		o.logger.Error(o.what+" are lost: too many wait for the next component", zap.Int("lost", over))
	}
}

// flush passes on what waits, until the next component refuses: then the rest waits for
// the next flush. It reports whether all was taken.
func (o *outbox[T]) flush(ctx context.Context, now time.Time) (taken bool) {
	for len(o.waiting) > 0 {
		n := min(perCall, len(o.waiting))
		if err := o.send(ctx, o.waiting[:n], min(n, o.tried), now); err != nil {
			o.tried = max(o.tried, n)
			o.logger.Warn(o.what+" wait: the next component did not take them",
				zap.Int("waiting", len(o.waiting)), zap.Error(err))
			return false
		}
		o.sent(ctx, o.waiting[:n], now)
		clear(o.waiting[:n])
		o.waiting, o.tried = o.waiting[n:], max(0, o.tried-n)
	}
	o.waiting = nil
	return true
}

// send passes items on together. Where that is refused for good it passes them one by
// one, so that one bad item takes no other along. The first tried of them come again:
// behind the next component one may have counted them, and another not written them.
func (o *outbox[T]) send(ctx context.Context, items []T, tried int, now time.Time) error {
	err := o.next.ConsumeLogs(ctx, o.write(items, tried, now))
	if err == nil || !consumererror.IsPermanent(err) {
		return err
	}
	if len(items) == 1 {
		o.drop(ctx, 1, o.refused)
		o.logger.Error("one of the "+o.what+" is lost: the next component refused it", zap.Error(err))
		return nil
	}
	for i := range items {
		if err := o.send(ctx, items[i:i+1], 1, now); err != nil {
			return err // some may come twice: the store goes by the revision
		}
	}
	return nil
}

// writeSummaries makes records of summaries, and marks the first tried as repetitions.
func writeSummaries(summaries []conference.Summary, tried int, now time.Time) plog.Logs {
	b := newBatch()
	for i := range summaries {
		s := &summaries[i]
		record := b.add(s.AppID, s.ConferenceID).LogRecords().AppendEmpty()
		writeRecord(record, s, now)
		if i < tried {
			record.Attributes().PutBool(semconv.Duplicate, true)
		}
	}
	return b.logs
}

// batch is records of the processor's own: a resource for each app, a scope for each record.
type batch struct {
	logs plog.Logs
	apps map[string]plog.ResourceLogs
}

func newBatch() batch { return batch{plog.NewLogs(), make(map[string]plog.ResourceLogs, 1)} }

func (b *batch) add(appID, conferenceID string) plog.ScopeLogs {
	resource, ok := b.apps[appID]
	if !ok {
		resource = b.logs.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr(semconv.AppID, appID)
		b.apps[appID] = resource
	}
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().SetName(semconv.ScopeName)
	scope.Scope().Attributes().PutStr(semconv.ConferenceID, conferenceID)
	return scope
}

func writeRecord(record plog.LogRecord, s *conference.Summary, now time.Time) {
	record.SetEventName(semconv.EventSummary)
	record.SetTimestamp(pcommon.NewTimestampFromTime(time.UnixMilli(s.EndMs)))
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	record.SetTraceID(semconv.TraceID(s.AppID, s.ConferenceID))
	attrs := record.Attributes()
	attrs.PutInt(semconv.SummaryStart, s.StartMs)
	attrs.PutInt(semconv.SummaryEnd, s.EndMs)
	attrs.PutInt(semconv.SummaryRevision, int64(s.Revision))
	attrs.PutStr(semconv.SummaryOutcome, string(s.Outcome))
	attrs.PutInt(semconv.SummaryParticipants, int64(len(s.Participants)))
	attrs.PutInt(semconv.SummaryAdded, int64(s.Added))
	attrs.PutStr(semconv.SummaryCause, string(s.LikelyCause.Cause))
	if s.MOS != nil {
		attrs.PutDouble(semconv.SummaryMOS, *s.MOS)
		attrs.PutStr(semconv.SummaryLabel, s.Label)
	}
	for kind, n := range s.IssueCounts {
		attrs.PutInt(semconv.SummaryIssuesPrefix+kind, int64(n))
	}
	document, err := json.Marshal(s)
	if err != nil {
		panic("BUG: a summary is no JSON: " + err.Error()) // it has no number that is not finite
	}
	record.Body().SetStr(string(document))
}
