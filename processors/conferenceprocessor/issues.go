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

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

const (
	// perIssueLook is how many conferences are looked at for issues while the lock is held, and
	// maxLooks how many in one tick: others wait for the next, so that summaries do not.
	perIssueLook = 64
	maxLooks     = 20_000
	// maxRefreshes is how many live conferences are read from the store in one tick, and
	// maxRefreshWaiting how many wait for that; others are looked at again in their next turn.
	maxRefreshes      = 4
	maxRefreshWaiting = 1000
)

// liveIssues is what telling of issues needs beside the conferences.
type liveIssues struct {
	out     outbox[conference.IssueChange]
	refresh []conference.Part // to be read from the store

	refreshed int // of them in this tick
}

// tellIssues looks at the live conferences whose turn it is, and passes on what came or went.
func (c *conferences) tellIssues(ctx context.Context, now time.Time) {
	c.live.refreshed = 0
	for more, looks := true, 0; more && looks < maxLooks; {
		c.mu.Lock()
		found := c.set.Issues(now.UnixMilli(), perIssueLook)
		parts := c.set.IssueParts()
		c.mu.Unlock()
		more = found.More
		looks += found.Conferences
		c.live.out.add(ctx, found.Changes)
		c.drop(ctx, int64(found.Left), reasonIssuesOpen)
		c.telemetry.ProcessorConferenceLooks.Add(ctx, int64(found.Conferences))
		more = c.refresh(ctx, parts, now) || more
	}
	c.live.out.flush(ctx, now)
}

// refresh gives the set what the store has of live conferences before their issues are told,
// a few in each tick. It reports whether there are some to be looked at again.
func (c *conferences) refresh(ctx context.Context, parts []conference.Part, now time.Time) (again bool) {
	c.live.refresh = append(c.live.refresh, parts...)
	n := min(len(c.live.refresh), max(0, maxRefreshes-c.live.refreshed))
	for _, p := range c.live.refresh[:n] {
		again = c.refreshOne(ctx, p, now) || again
	}
	c.live.refreshed += n
	c.live.refresh = c.live.refresh[n:]
	for len(c.live.refresh) > maxRefreshWaiting {
		c.mu.Lock()
		c.set.NotRefreshed(c.live.refresh[0], now.UnixMilli())
		c.mu.Unlock()
		c.live.refresh = c.live.refresh[1:]
	}
	return again
}

func (c *conferences) refreshOne(ctx context.Context, p conference.Part, now time.Time) bool {
	ref := storage.Ref{AppID: p.AppID, ConferenceID: p.ConferenceID, At: time.UnixMilli(p.AtMs)}
	stored, err := c.restorer.reader.Conference(ctx, ref)
	if err == nil || errors.Is(err, storage.ErrDamaged) { // what is damaged is its old summary
		c.telemetry.ProcessorConferenceRefreshes.Add(ctx, 1)
		err = c.restoreRecords(ctx, ref, stored.Participants, now.UnixMilli())
	}
	known := err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrDamaged)
	if !known {
		c.logger.Warn("issues wait: a live conference cannot be read from the store", zap.Error(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known {
		c.set.Refreshed(p, now.UnixMilli())
	} else {
		c.set.NotRefreshed(p, now.UnixMilli())
	}
	return known
}

func (c *conferences) countIssues(ctx context.Context, changes []conference.IssueChange, _ time.Time) {
	for i := range changes {
		c.telemetry.ProcessorConferenceIssues.Add(ctx, 1, metric.WithAttributes(attribute.String("state", string(changes[i].State))))
	}
}

// writeIssues makes records of issues. What another process may have told is a repetition,
// like what was tried before: exporters skip it, or go by its id.
func writeIssues(changes []conference.IssueChange, tried int, now time.Time) plog.Logs {
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

func writeIssue(record plog.LogRecord, change *conference.IssueChange, now time.Time) {
	issue := &change.Issue
	at := issue.UntilMs
	if change.State == conference.IssueRaised {
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
		semconv.IssueSession: issue.Session, semconv.IssueUserID: issue.UserID, semconv.IssueUserAlias: issue.Alias,
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
