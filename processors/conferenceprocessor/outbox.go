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

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

const (
	maxWaiting = 10_000 // summaries, or issues, that the next component has not accepted
	perCall    = 100    // number of them in one call
)

// Reasons for dropping a summary or an issue, and for one that may be incomplete.
const (
	reasonFull    = "summaries_full"
	reasonRefused = "summary_refused"

	reasonIssuesFull   = "issues_full"
	reasonIssueRefused = "issue_refused"
	reasonIssuesOpen   = "issues_open" // too many of one conference; counted once for each evaluation

	reasonNotRestored = "not_restored" // not dropped: the summary may cover a part of the conference
	reasonDamaged     = "damaged"      // likewise; counted once for each read
	reasonNotChecked  = "not_checked"  // not dropped: another summary may have replaced it
)

// outbox holds emitted records until the next component has accepted them. Not for concurrent use.
type outbox[T any] struct {
	what          string // plural noun for log messages
	full, refused string // drop reasons
	next          consumer.Logs
	write         func(items []T, tried int, now time.Time) plog.Logs // marks the first tried items as repetitions
	drop          func(ctx context.Context, n int64, reason string)
	onSent        func(ctx context.Context, items []T, now time.Time)
	logger        *zap.Logger
	waiting       []T
	tried         int // number of the first items that were refused before
}

// add adds items, and drops the oldest ones beyond maxWaiting.
func (o *outbox[T]) add(ctx context.Context, items []T) {
	o.waiting = append(o.waiting, items...)
	if over := len(o.waiting) - maxWaiting; over > 0 {
		clear(o.waiting[:over])
		o.waiting = o.waiting[over:]
		o.tried = max(0, o.tried-over)
		o.drop(ctx, int64(over), o.full)
		o.logger.Error(o.what+" dropped: too many wait for the next component", zap.Int("dropped", over))
	}
}

// flush sends the waiting items until the next component refuses some: the rest waits for the next
// flush. It reports whether all were accepted.
func (o *outbox[T]) flush(ctx context.Context, now time.Time) (accepted bool) {
	for len(o.waiting) > 0 {
		n := min(perCall, len(o.waiting))
		if err := o.send(ctx, o.waiting[:n], min(n, o.tried), now); err != nil {
			o.tried = max(o.tried, n)
			o.logger.Warn(o.what+" wait: the next component refused them",
				zap.Int("waiting", len(o.waiting)), zap.Error(err))
			return false
		}
		o.onSent(ctx, o.waiting[:n], now)
		clear(o.waiting[:n])
		o.waiting, o.tried = o.waiting[n:], max(0, o.tried-n)
	}
	o.waiting = nil
	return true
}

// send sends items in one call. After a permanent error it sends them one by one, so that one bad
// item does not drop others. The first tried items are marked as repetitions: one exporter may have
// counted them although another one did not write them.
func (o *outbox[T]) send(ctx context.Context, items []T, tried int, now time.Time) error {
	err := o.next.ConsumeLogs(ctx, o.write(items, tried, now))
	if err == nil || !consumererror.IsPermanent(err) {
		return err
	}
	if len(items) == 1 {
		o.drop(ctx, 1, o.refused)
		o.logger.Error("one of the "+o.what+" dropped: the next component refused it permanently", zap.Error(err))
		return nil
	}
	for i := range items {
		if err := o.send(ctx, items[i:i+1], 1, now); err != nil {
			return err // some may be sent twice: the store compares the revision
		}
	}
	return nil
}

// writeSummaries converts summaries to records, and marks the first tried as repetitions.
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

// batch contains emitted records: one resource for each app, one scope for each record.
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
	writeClients(attrs, s.Participants)
	attrs.PutStr(semconv.SummaryCause, string(s.LikelyCause.Cause))
	attrs.PutEmptyBytes(semconv.SummaryDigest).FromRaw(digest.Of(s).Encode())
	if s.MOS != nil {
		attrs.PutDouble(semconv.SummaryMOS, *s.MOS)
		attrs.PutStr(semconv.SummaryLabel, s.Label)
	}
	for kind, n := range s.IssueCounts {
		attrs.PutInt(semconv.SummaryIssuesPrefix+kind, int64(n))
	}
	document, err := json.Marshal(s)
	if err != nil {
		panic("BUG: a summary cannot be encoded as JSON: " + err.Error()) // its numbers are finite
	}
	record.Body().SetStr(string(document))
}
