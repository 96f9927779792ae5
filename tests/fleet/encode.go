package fleet

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Events returns the events of a step, as package eventlog reads them from Logs.
func Events(s *Step) []event.Event {
	base := event.Event{
		AppID: s.Session.AppID, ConferenceID: s.Conference.ID, Session: s.Session.ID, UserID: s.Session.UserID, Alias: s.Session.Alias,
		Seq: s.Seq, AtMs: s.AtMs, ConferenceAtMs: s.Conference.StartMs,
		Client: &event.Client{SiteID: s.Session.SiteID, ApplicationVersion: s.Session.ApplicationVersion, UserAgent: s.Session.Browser.UserAgent()},
	}
	if f := s.Fabric; f != nil {
		base.Fabric, base.ConferenceAtMs, base.Usage, base.RemoteType = f.Number, f.AddedAtMs, f.Usage, f.RemoteType
		base.RemoteUser, base.RemoteAlias = f.RemoteUserID, f.RemoteAlias
	}
	switch {
	case s.Stats != nil:
		return statsEvents(base, s.Stats)
	case s.Event != nil:
		base.Kind, base.Name, base.Text = event.KindEvent, s.Event.Name, s.Event.Data
		base.Data = event.ParseData(base.Name, []byte(base.Text))
	case s.Error != nil:
		failure := s.Error.Error
		base.Kind, base.Function, base.Error = event.KindError, s.Error.Function, &failure
	case s.Feedback != nil:
		feedback := *s.Feedback
		base.Kind, base.Feedback = event.KindFeedback, &feedback
	case s.Lost != nil:
		base.Kind, base.Lost = event.KindSkip, *s.Lost
	}
	return []event.Event{base}
}

func statsEvents(base event.Event, stats *Stats) []event.Event {
	events := make([]event.Event, len(stats.Rows))
	for i := range events {
		events[i] = base
		events[i].Kind, events[i].Index, events[i].Measured = event.KindStats, i, &stats.Rows[i]
	}
	return events
}

// Logs returns the records of a step, as the receiver emits them.
func Logs(s *Step) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	p := s.Session
	attrs := resource.Resource().Attributes()
	for name, text := range map[string]string{
		semconv.AppID: p.AppID, semconv.SessionID: p.ID, semconv.UserID: p.UserID, semconv.UserAlias: p.Alias,
		semconv.ApplicationVersion: p.ApplicationVersion, semconv.SiteID: p.SiteID, semconv.UserAgent: p.Browser.UserAgent(),
	} {
		attrs.PutStr(name, text)
	}
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().SetName(semconv.ScopeName)
	putScope(scope.Scope().Attributes(), s)
	if s.Stats == nil {
		putDetails(newRecord(scope, s, 0), s)
		return logs
	}
	for i := range s.Stats.Rows {
		record := newRecord(scope, s, i)
		record.SetEventName(semconv.EventStats)
		putRow(record.Attributes(), &s.Stats.Rows[i])
	}
	return logs
}

func putScope(attrs pcommon.Map, s *Step) {
	attrs.PutStr(semconv.ConferenceID, s.Conference.ID)
	f := s.Fabric
	if f == nil {
		attrs.PutInt(semconv.ConferenceAt, s.Conference.StartMs)
		return
	}
	attrs.PutInt(semconv.ConferenceAt, f.AddedAtMs)
	attrs.PutInt(semconv.FabricID, int64(f.Number))
	attrs.PutStr(semconv.FabricUsage, f.Usage)
	attrs.PutStr(semconv.RemoteEndpointType, f.RemoteType)
	attrs.PutStr(semconv.RemoteUserID, f.RemoteUserID)
	attrs.PutStr(semconv.RemoteUserAlias, f.RemoteAlias)
}

func newRecord(scope plog.ScopeLogs, s *Step, index int) plog.LogRecord {
	record := scope.LogRecords().AppendEmpty()
	record.SetTimestamp(pcommon.Timestamp(s.AtMs * 1e6))
	record.SetObservedTimestamp(record.Timestamp())
	record.SetTraceID(semconv.TraceID(s.Session.AppID, s.Conference.ID))
	if s.Fabric != nil {
		record.SetSpanID(semconv.SpanID(s.Session.ID, s.Fabric.Number))
	}
	record.Attributes().PutInt(semconv.FrameSeq, int64(s.Seq))
	record.Attributes().PutInt(semconv.FrameIndex, int64(index))
	return record
}

func putRow(attrs pcommon.Map, m *event.Measurement) {
	attrs.PutDouble(semconv.IntervalMs, m.IntervalMs)
	attrs.PutStr(semconv.StatsType, m.StatsType)
	if m.MediaType != "" {
		attrs.PutStr(semconv.MediaType, m.MediaType)
		attrs.PutInt(semconv.Measure(protocol.SSRC), m.SSRC)
		attrs.PutStr(semconv.Measure(protocol.Codec), m.Codec)
	}
	if m.Limitation != "" {
		attrs.PutStr(semconv.Measure(protocol.Limitation), m.Limitation)
	}
	for k, v := range m.All() {
		if k.Info().Type == protocol.Int {
			attrs.PutInt(semconv.Measure(k), int64(v))
		} else {
			attrs.PutDouble(semconv.Measure(k), v)
		}
	}
}

func putDetails(record plog.LogRecord, s *Step) {
	attrs := record.Attributes()
	switch {
	case s.Event != nil:
		record.SetEventName(semconv.EventEvent)
		attrs.PutStr(semconv.EventName, s.Event.Name)
		attrs.PutStr(semconv.EventData, s.Event.Data)
	case s.Error != nil:
		record.SetEventName(semconv.EventError)
		attrs.PutStr(semconv.ErrorFunction, s.Error.Function)
		attrs.PutStr(semconv.ErrorName, s.Error.Name)
		attrs.PutStr(semconv.ErrorMessage, s.Error.Message)
	case s.Feedback != nil:
		record.SetEventName(semconv.EventFeedback)
		attrs.PutStr(semconv.FeedbackUserID, s.Feedback.UserID)
		attrs.PutStr(semconv.FeedbackUserAlias, s.Feedback.Alias)
		attrs.PutInt(semconv.FeedbackOverall, int64(*s.Feedback.Overall))
	case s.Lost != nil:
		record.SetEventName(semconv.EventSkip)
		attrs.PutInt(semconv.SkipStats, int64(s.Lost.Stats))
		attrs.PutInt(semconv.SkipEvents, int64(s.Lost.Events))
	}
}
