package webhookexporter

import (
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// dropReason is why a record is not counted. metadata.yaml lists the reasons.
type dropReason string

const (
	dropConferenceID dropReason = "conference_id"
	dropSummary      dropReason = "summary"
	dropFeedback     dropReason = "feedback"
	dropPreCall      dropReason = "precall"
	dropLate         dropReason = "late"
	dropAhead        dropReason = "ahead"
	dropStore        dropReason = "store"
)

// read returns the points of the records of apps with webhooks, and the number of dropped records by
// reason. It includes duplicates: the store may have been unavailable for the first copy.
func (e *webhookExporter) read(logs plog.Logs, now time.Time) ([]storage.Point, map[dropReason]int) {
	var points []storage.Point
	dropped := map[dropReason]int{}
	for _, resource := range logs.ResourceLogs().All() {
		attrs := resource.Resource().Attributes()
		base := storage.Point{AppID: eventlog.Text(attrs, semconv.AppID), RecordedAt: now}
		if base.AppID == "" || len(e.apps.Webhooks(base.AppID)) == 0 {
			continue
		}
		session := eventlog.Text(attrs, semconv.SessionID)
		for _, scope := range resource.ScopeLogs().All() {
			base.ConferenceID = eventlog.Text(scope.Scope().Attributes(), semconv.ConferenceID)
			for _, record := range scope.LogRecords().All() {
				p, why := newPoint(base, session, record, now)
				if why != "" {
					dropped[why]++
				} else if p.Body != nil {
					points = append(points, p)
				}
			}
		}
	}
	return points, dropped
}

// newPoint returns the point of a record, without a body if no rule counts it.
func newPoint(p storage.Point, session string, record plog.LogRecord, now time.Time) (storage.Point, dropReason) {
	var f notice.Fact
	var why dropReason
	switch record.EventName() {
	case semconv.EventSummary:
		f, why = readSummary(&p, record)
	case semconv.EventFeedback:
		rating := eventlog.Details(record).Feedback.Overall
		if rating == nil {
			return p, ""
		}
		at := record.Timestamp()
		if at == 0 {
			at = record.ObservedTimestamp()
		}
		f = notice.Fact{Rating: rating}
		seq, _ := eventlog.Integer(record.Attributes(), semconv.FrameSeq)
		index, _ := eventlog.Integer(record.Attributes(), semconv.FrameIndex)
		why = identifyFeedback(&p, notice.Rated{Session: session, AtMs: at.AsTime().UnixMilli(), Overall: *rating, Seq: uint64(max(0, seq)), Index: int(index)})
	case semconv.EventPreCall:
		if f, why = readPreCall(&p, session, record); f.PreCall == nil {
			return p, why
		}
	default:
		return p, ""
	}
	if why != "" {
		return p, why
	}
	return finishPoint(p, f, now)
}

// finishPoint checks the IDs and times of a point, and encodes it.
func finishPoint(p storage.Point, f notice.Fact, now time.Time) (storage.Point, dropReason) {
	if p.ConferenceID == "" || len(p.ConferenceID) > storage.MaxIDBytes {
		return p, dropConferenceID
	}
	switch notice.TimingOf(p.End, now) {
	case notice.Late:
		return p, dropLate
	case notice.Ahead:
		return p, dropAhead
	}
	body, err := f.Encode()
	if err != nil {
		return p, dropSummary
	}
	p.Body = body
	return p, ""
}

func readSummary(p *storage.Point, record plog.LogRecord) (notice.Fact, dropReason) {
	start, hasStart := eventlog.Integer(record.Attributes(), semconv.SummaryStart)
	end, hasEnd := eventlog.Integer(record.Attributes(), semconv.SummaryEnd)
	if !hasStart || !hasEnd || start < 0 || end < start || record.Body().Type() != pcommon.ValueTypeStr {
		return notice.Fact{}, dropSummary
	}
	p.Start, p.End = time.UnixMilli(start).UTC(), time.UnixMilli(end).UTC()
	f, _, err := notice.ReadSummary([]byte(record.Body().Str()))
	if err != nil {
		return f, dropSummary
	}
	return f, ""
}

// identifyFeedback identifies a point in the same way as the summary that lists the feedback: by its record,
// or by its time if the number is unknown.
func identifyFeedback(p *storage.Point, r notice.Rated) dropReason {
	if _, err := storage.ParseSessionID(r.Session); err != nil || r.Overall < 1 || r.Overall > 5 {
		return dropFeedback
	}
	p.ID = r.Session + "/" + strconv.FormatInt(r.AtMs, 10)
	if r.Seq > 0 {
		p.ID = fmt.Sprintf("%s/%d/%d", r.Session, r.Seq, r.Index)
	}
	p.Start = time.UnixMilli(r.AtMs).UTC()
	p.End = p.Start
	return ""
}
