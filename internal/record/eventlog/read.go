package eventlog

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventattr"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Item is a record of the pipeline with its event.
type Item struct {
	Event  event.Event
	Record plog.LogRecord
}

// Read returns the records of conferences and omits all others, and the parts of SDPs, which change
// no conference.
func Read(logs plog.Logs) []Item {
	items := make([]Item, 0, logs.LogRecordCount())
	r := reader{measurements: NewMeasurements(), room: make([]event.Measurement, logs.LogRecordCount())}
	defer r.measurements.Release()
	for _, resource := range logs.ResourceLogs().All() {
		attrs := resource.Resource().Attributes()
		session := event.Event{
			AppID: Text(attrs, semconv.AppID), Session: Text(attrs, semconv.SessionID),
			UserID: Text(attrs, semconv.UserID), Alias: Text(attrs, semconv.UserAlias),
			Client: &event.Client{
				SiteID: Text(attrs, semconv.SiteID), ApplicationVersion: Text(attrs, semconv.ApplicationVersion), UserAgent: Text(attrs, semconv.UserAgent),
			},
		}
		for _, scope := range resource.ScopeLogs().All() {
			e := session
			readScope(&e, scope.Scope().Attributes())
			for _, record := range scope.LogRecords().All() {
				if e.Kind = eventattr.KindOf(record.EventName()); e.Kind != 0 && e.Kind != event.KindSDP {
					items = append(items, Item{e, record})
					r.read(&items[len(items)-1])
				}
			}
		}
	}
	return items
}

// reader reads records. room has an element for the measurement of each record.
type reader struct {
	measurements *Measurements
	room         []event.Measurement
}

func readScope(e *event.Event, attrs pcommon.Map) {
	e.ConferenceID = Text(attrs, semconv.ConferenceID)
	e.ConferenceAtMs, _ = Integer(attrs, semconv.ConferenceAt)
	fabric, _ := Integer(attrs, semconv.FabricID)
	e.Fabric = int(fabric)
	eventattr.ReadScope(e, source(attrs))
}

func (r *reader) read(item *Item) {
	e, record := &item.Event, item.Record
	if e.AtMs = milliseconds(record.Timestamp()); e.AtMs == 0 { // the store does the same
		e.AtMs = milliseconds(record.ObservedTimestamp())
	}
	if e.ConferenceAtMs == 0 {
		e.ConferenceAtMs = e.AtMs
	}
	attrs := record.Attributes()
	if e.Kind == event.KindStats {
		m := &r.room[0]
		row := r.measurements.Read(m, attrs, e.Usage)
		e.Seq, e.Index, e.TimeCorrected = uint64(max(0, row.Seq)), int(row.Index), row.TimeCorrected // not negative
		if m.StatsType != "" {                                                                       // empty for a keep-alive, a frame without measurements
			e.Measured, r.room = m, r.room[1:]
		} else {
			*m = event.Measurement{}
		}
		return
	}
	eventattr.ReadDetails(e, source(attrs))
	seq, _ := Integer(attrs, semconv.FrameSeq)
	index, _ := Integer(attrs, semconv.FrameIndex)
	e.Seq, e.Index = uint64(max(0, seq)), int(index) // not negative
}

// Details returns the event of a record that is no measurement, without the fields of its session, its
// scope and its identity.
func Details(record plog.LogRecord) event.Event {
	e := event.Event{Kind: eventattr.KindOf(record.EventName())}
	eventattr.ReadDetails(&e, source(record.Attributes()))
	return e
}

// MarkOutOfRange sets the attribute of records of measurements that names the dropped values.
func MarkOutOfRange(items []Item) {
	for i := range items {
		if m := items[i].Event.Measured; m != nil && m.OutOfRange != 0 {
			items[i].Record.Attributes().PutStr(semconv.OutOfRange, strings.Join(m.OutOfRange.Names(), ","))
		}
	}
}

func milliseconds(t pcommon.Timestamp) int64 {
	return int64(t / 1e6) // 2^64 ns are 2^44 ms
}
