package conferenceprocessor

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

const (
	// perEvaluation is the number of conferences evaluated while the lock is held, and
	// maxEvaluations that in one tick: others wait for the next, so that summaries are not delayed.
	perEvaluation  = 64
	maxEvaluations = 20_000
	// maxRefreshes is the number of live conferences read from the store in one tick, and
	// maxRefreshWaiting bounds those that wait; others are evaluated in their next interval.
	maxRefreshes      = 4
	maxRefreshWaiting = 1000
)

// liveIssues is the state of issue notifications.
type liveIssues struct {
	out     outbox[live.IssueChange]
	refresh []live.Partial // conferences that wait to be read from the store

	refreshCount int // number of reads in this tick
}

// notify evaluates the live conferences that are due, and emits issues that began or ended.
func (c *conferences) notify(ctx, reading context.Context, now time.Time) {
	c.issues.refreshCount = 0
	for more, done := true, 0; more && done < maxEvaluations; {
		c.mu.Lock()
		found := c.set.Evaluate(now.UnixMilli(), perEvaluation)
		partials := c.set.ToRefresh()
		c.mu.Unlock()
		more = found.More
		done += found.Conferences
		c.issues.out.add(ctx, found.Changes)
		c.drop(ctx, int64(found.Left), reasonIssuesOpen)
		c.telemetry.ProcessorConferenceEvaluations.Add(ctx, int64(found.Conferences))
		more = c.refresh(reading, partials, now) || more
	}
	c.issues.out.flush(ctx, now)
}

// refresh restores live conferences from the store before they are evaluated, at most maxRefreshes
// in each tick. It reports whether there are conferences to evaluate again.
func (c *conferences) refresh(ctx context.Context, partials []live.Partial, now time.Time) (again bool) {
	c.issues.refresh = append(c.issues.refresh, partials...)
	n := min(len(c.issues.refresh), max(0, maxRefreshes-c.issues.refreshCount))
	for _, p := range c.issues.refresh[:n] {
		again = c.refreshOne(ctx, p, now) || again
	}
	c.issues.refreshCount += n
	c.issues.refresh = c.issues.refresh[n:]
	for len(c.issues.refresh) > maxRefreshWaiting {
		c.mu.Lock()
		c.set.NotRefreshed(c.issues.refresh[0], now.UnixMilli())
		c.mu.Unlock()
		c.issues.refresh = c.issues.refresh[1:]
	}
	return again
}

func (c *conferences) refreshOne(ctx context.Context, p live.Partial, now time.Time) bool {
	ref := storage.Ref{AppID: p.AppID, ConferenceID: p.ConferenceID, At: time.UnixMilli(p.AtMs)}
	stored, err := c.restorer.reader.Conference(ctx, ref)
	if err == nil || errors.Is(err, storage.ErrDamaged) { // only the old summary is damaged
		c.telemetry.ProcessorConferenceRefreshes.Add(ctx, 1)
		err = c.restoreRecords(ctx, ref, stored.Participants, now.UnixMilli())
	}
	isRead := err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrDamaged)
	if !isRead {
		c.logger.Warn("issues wait: a live conference cannot be read from the store", zap.Error(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if isRead {
		c.set.Refreshed(p)
	} else {
		c.set.NotRefreshed(p, now.UnixMilli())
	}
	return isRead
}

func (c *conferences) countIssues(ctx context.Context, changes []live.IssueChange, _ time.Time) {
	for i := range changes {
		c.telemetry.ProcessorConferenceIssues.Add(ctx, 1, metric.WithAttributes(attribute.String("state", string(changes[i].State))))
	}
}

// writeIssues converts issues to records. It marks those that another process may have emitted or
// that were sent before as repetitions: exporters skip them, or compare the ID.
func writeIssues(changes []live.IssueChange, tried int, now time.Time) plog.Logs {
	b := newBatch()
	for i := range changes {
		change := &changes[i]
		scope := b.add(change.AppID, change.ConferenceID)
		if change.Issue.Fabric != 0 {
			scope.Scope().Attributes().PutInt(semconv.FabricID, int64(change.Issue.Fabric))
		}
		record := scope.LogRecords().AppendEmpty()
		writeIssue(record, change, now)
		if i < tried || change.Again {
			record.Attributes().PutBool(semconv.Duplicate, true)
		}
	}
	return b.logs
}

func writeIssue(record plog.LogRecord, change *live.IssueChange, now time.Time) {
	issue := &change.Issue
	at := issue.UntilMs
	if change.State == live.IssueRaised {
		at = issue.SinceMs
	}
	record.SetEventName(semconv.EventIssue)
	record.SetTimestamp(pcommon.NewTimestampFromTime(time.UnixMilli(at)))
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	record.SetTraceID(semconv.TraceID(change.AppID, change.ConferenceID))
	if issue.Fabric != 0 {
		record.SetSpanID(semconv.SpanID(issue.Session, issue.Fabric))
	}
	attrs := record.Attributes()
	for name, text := range map[string]string{
		semconv.IssueID: change.ID, semconv.IssueState: string(change.State), semconv.IssueKind: issue.Kind,
		semconv.IssueSession: issue.Session, semconv.IssueSite: issue.SiteID, semconv.IssueUserID: issue.UserID, semconv.IssueUserAlias: issue.Alias,
		semconv.MediaType: issue.MediaType, semconv.IssueDirection: issue.Direction,
		semconv.IssueMetric: issue.Metric, semconv.IssueConfidence: issue.Confidence,
	} {
		if text != "" {
			attrs.PutStr(name, text)
		}
	}
	if issue.SSRC != 0 {
		attrs.PutInt(semconv.IssueSSRC, issue.SSRC)
	}
	attrs.PutDouble(semconv.IssueValue, issue.Value)
	attrs.PutDouble(semconv.IssueWorst, issue.Worst)
	attrs.PutDouble(semconv.IssueThreshold, issue.Threshold)
	attrs.PutInt(semconv.IssueSince, issue.SinceMs)
	attrs.PutInt(semconv.IssueUntil, issue.UntilMs)
}
