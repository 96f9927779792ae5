package storeexporter

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventattr"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// reason is why a record cannot be stored. metadata.yaml lists the reasons.
type reason string

const (
	reasonEventName    reason = "event_name"
	reasonAppID        reason = "app_id"
	reasonSessionID    reason = "session_id"
	reasonConferenceID reason = "conference_id"
	reasonFrameSeq     reason = "frame_seq"
	reasonFrameIndex   reason = "frame_index"
	reasonTime         reason = "time"
	reasonSummary      reason = "summary"
	reasonNoConference reason = "no_conference"

	reasonNoSuchConference reason = "no_such_conference"
)

// reasons are all reasons.
var reasons = []reason{
	reasonEventName, reasonAppID, reasonSessionID, reasonConferenceID, reasonFrameSeq, reasonFrameIndex,
	reasonTime, reasonSummary, reasonNoConference, reasonNoSuchConference,
}

// skip counts the records skipped for one reason, and describes the first one.
type skip struct {
	count int64
	field string // attribute or field
	found string // what was found instead; never a value
}

// translation is plog.Logs in the types of the store.
type translation struct {
	batches   []storage.Batch
	summaries []storage.Summary
	preCalls  []storage.PreCall
	skipped   map[reason]skip
}

// translate converts resources to sessions, and scopes with their records to records, in order. It
// skips and counts records without identity.
func translate(logs plog.Logs) translation {
	t := translation{skipped: map[reason]skip{}}
	for _, resource := range logs.ResourceLogs().All() {
		session, err := newSession(resource.Resource().Attributes())
		batch := storage.Batch{Session: session}
		for _, scope := range resource.ScopeLogs().All() {
			attributes := newScope(scope.Scope().Attributes())
			for _, r := range scope.LogRecords().All() {
				t.add(&batch, attributes, r, err)
			}
		}
		if len(batch.Records) > 0 {
			t.batches = append(t.batches, batch)
		}
	}
	return t
}

func (t *translation) add(batch *storage.Batch, scope scopeAttributes, r plog.LogRecord, sessionErr error) {
	if r.EventName() == semconv.EventIssue {
		return // not stored: it follows from stored records, and the summary has it
	}
	if r.EventName() == semconv.EventSummary {
		summary, err := newSummary(batch.Session.AppID, scope.conferenceID, r)
		if err != nil {
			t.skip(err)
			return
		}
		t.summaries = append(t.summaries, summary)
		return
	}
	if sessionErr != nil {
		t.skip(sessionErr)
		return
	}
	if r.EventName() == semconv.EventPreCall {
		test, err := newPreCall(batch.Session, r)
		if err != nil {
			t.skip(err)
			return
		}
		t.preCalls = append(t.preCalls, test)
		return
	}
	record, err := newRecord(scope, r)
	if err != nil {
		t.skip(err)
		return
	}
	batch.Records = append(batch.Records, record)
}

// badField is an error with the field for which a record cannot be stored.
type badField struct {
	reason
	field, found string
}

func (b *badField) Error() string { return b.field + ": " + b.found }

func (t *translation) skip(err error) {
	var b *badField
	if !errors.As(err, &b) {
		panic("BUG: a record is skipped without a reason")
	}
	s, ok := t.skipped[b.reason]
	if !ok {
		s.field, s.found = b.field, b.found
	}
	s.count++
	t.skipped[b.reason] = s
}

// newBadField describes the value of an attribute without showing it.
func newBadField(why reason, attributes pcommon.Map, name string) *badField {
	found := "nothing"
	if v, ok := attributes.Get(name); ok {
		found = v.Type().String()
		if v.Type() == pcommon.ValueTypeStr {
			found = fmt.Sprintf("%s of %d bytes", found, len(v.Str()))
		}
	}
	return &badField{why, name, found}
}

// newSession reads a resource. The AppID of the result is set on error, too: a summary needs only
// that.
func newSession(attributes pcommon.Map) (storage.Session, error) {
	s := storage.Session{
		AppID: eventlog.Text(attributes, semconv.AppID), ID: eventlog.Text(attributes, semconv.SessionID),
		UserID: eventlog.Text(attributes, semconv.UserID), UserAlias: eventlog.Text(attributes, semconv.UserAlias),
	}
	for k, v := range attributes.All() {
		switch k {
		case semconv.AppID, semconv.SessionID, semconv.UserID, semconv.UserAlias:
		default:
			if s.Details == nil {
				s.Details = make(map[string]string, attributes.Len())
			}
			s.Details[k] = v.AsString()
		}
	}
	if s.AppID == "" {
		return s, newBadField(reasonAppID, attributes, semconv.AppID)
	}
	if _, err := storage.ParseSessionID(s.ID); err != nil {
		return s, newBadField(reasonSessionID, attributes, semconv.SessionID)
	}
	return s, nil
}

// scopeAttributes are the common attributes of a scope's records.
type scopeAttributes struct {
	conferenceID string
	conferenceAt int64 // 0: not known
	fabric       int
	all          pcommon.Map
}

func newScope(attributes pcommon.Map) scopeAttributes {
	at, _ := eventlog.Integer(attributes, semconv.ConferenceAt)
	fabric, _ := eventlog.Integer(attributes, semconv.FabricID)
	return scopeAttributes{eventlog.Text(attributes, semconv.ConferenceID), at, int(fabric), attributes}
}

// identity reads the number of a record's frame, and the record's index in it.
func identity(attributes pcommon.Map) (uint64, int, error) {
	seq, ok := eventlog.Integer(attributes, semconv.FrameSeq)
	if !ok || seq < 1 || seq > protocol.MaxSeq {
		return 0, 0, newBadField(reasonFrameSeq, attributes, semconv.FrameSeq)
	}
	index, ok := eventlog.Integer(attributes, semconv.FrameIndex)
	if !ok || index < 0 || index > protocol.MaxFrameBytes { // a record needs at least one byte
		return 0, 0, newBadField(reasonFrameIndex, attributes, semconv.FrameIndex)
	}
	return uint64(seq), int(index), nil
}

func newRecord(scope scopeAttributes, r plog.LogRecord) (out storage.Record, err error) {
	attributes := r.Attributes()
	seq, index, err := identity(attributes)
	if err != nil {
		return out, err
	}
	if r.EventName() == "" {
		return out, &badField{reasonEventName, "event name", "nothing"}
	}
	if scope.conferenceID == "" {
		if r.EventName() == semconv.EventSkip && scope.fabric == 0 {
			return out, &badField{reasonNoConference, semconv.ConferenceID, "nothing"}
		}
		return out, newBadField(reasonConferenceID, scope.all, semconv.ConferenceID)
	}
	out = storage.Record{
		Seq: seq, Index: index, ConferenceID: scope.conferenceID, Fabric: scope.fabric, Name: r.EventName(),
		At: timeOf(r.Timestamp()), ObservedAt: timeOf(r.ObservedTimestamp()), ConferenceAt: time.UnixMilli(scope.conferenceAt).UTC(),
		Activity: event.Activity(eventattr.KindOf(r.EventName()), scope.fabric, eventlog.Text(attributes, semconv.ErrorFunction)),
	}
	if r.Timestamp() == 0 {
		out.At = out.ObservedAt
	}
	if scope.conferenceAt == 0 {
		out.ConferenceAt = out.At
	}
	if r.Timestamp() == 0 && r.ObservedTimestamp() == 0 || !plausible(out.At) {
		return out, &badField{reasonTime, "timestamp", "nothing in 1970 to 9999"}
	}
	if !plausible(out.ConferenceAt) {
		return out, &badField{reasonTime, semconv.ConferenceAt, "nothing in 1970 to 9999"}
	}
	out.Attributes = mergeAttributes(scope.all, attributes)
	return out, nil
}

// plausible reports whether the store accepts a time.
func plausible(t time.Time) bool { return t.UnixMilli() >= 0 && t.Year() <= 9999 }

// mergeAttributes returns the attributes of a scope and a record that have no field of their own in
// the store. It omits the mark of a duplicate, which is valid in the pipeline only.
func mergeAttributes(scope, record pcommon.Map) map[string]any {
	out := make(map[string]any, scope.Len()+record.Len())
	for _, attributes := range []pcommon.Map{scope, record} {
		for k, v := range attributes.All() {
			switch k {
			case semconv.ConferenceID, semconv.ConferenceAt, semconv.FabricID,
				semconv.FrameSeq, semconv.FrameIndex, semconv.Duplicate:
			default:
				putValue(out, k, v)
			}
		}
	}
	return out
}

// putValue converts a value to one of the four types of the store; other types become JSON.
func putValue(out map[string]any, k string, v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
	case pcommon.ValueTypeInt:
		out[k] = v.Int()
	case pcommon.ValueTypeDouble:
		out[k] = v.Double()
	case pcommon.ValueTypeBool:
		out[k] = v.Bool()
	default:
		out[k] = v.AsString()
	}
}

func newSummary(app, conferenceID string, r plog.LogRecord) (out storage.Summary, err error) {
	attributes := r.Attributes()
	start, hasStart := eventlog.Integer(attributes, semconv.SummaryStart)
	end, hasEnd := eventlog.Integer(attributes, semconv.SummaryEnd)
	revision, hasRevision := eventlog.Integer(attributes, semconv.SummaryRevision)
	switch {
	case app == "":
		return out, &badField{reasonAppID, semconv.AppID, "nothing"}
	case conferenceID == "":
		return out, &badField{reasonConferenceID, semconv.ConferenceID, "nothing"}
	case !hasStart || start < 0:
		return out, newBadField(reasonSummary, attributes, semconv.SummaryStart)
	case !hasEnd || end < start || time.UnixMilli(end).UTC().Year() > 9999:
		return out, newBadField(reasonSummary, attributes, semconv.SummaryEnd)
	case !hasRevision || revision < 1:
		return out, newBadField(reasonSummary, attributes, semconv.SummaryRevision)
	case r.Body().Type() != pcommon.ValueTypeStr || !json.Valid([]byte(r.Body().Str())):
		return out, &badField{reasonSummary, "body", r.Body().Type().String() + " that is no JSON"}
	}
	participants, _ := eventlog.Integer(attributes, semconv.SummaryParticipants)
	out = storage.Summary{
		AppID: app, ConferenceID: conferenceID, Start: time.UnixMilli(start).UTC(), End: time.UnixMilli(end).UTC(),
		Revision: int(revision), Outcome: eventlog.Text(attributes, semconv.SummaryOutcome), Participants: int(participants),
		Label: eventlog.Text(attributes, semconv.SummaryLabel), Cause: eventlog.Text(attributes, semconv.SummaryCause), Document: json.RawMessage(r.Body().Str()),
	}
	if mos, ok := attributes.Get(semconv.SummaryMOS); ok && mos.Type() == pcommon.ValueTypeDouble {
		v := mos.Double()
		out.MOS = &v
	}
	out.Digest = digestOf(attributes)
	return out, nil
}

// digestOf returns the digest of a summary, nil if it cannot be stored: the summary is stored nevertheless.
func digestOf(attributes pcommon.Map) []byte {
	v, ok := attributes.Get(semconv.SummaryDigest)
	if !ok || v.Type() != pcommon.ValueTypeBytes || v.Bytes().Len() == 0 || v.Bytes().Len() > storage.MaxDigestBytes {
		return nil
	}
	return v.Bytes().AsRaw()
}

func timeOf(t pcommon.Timestamp) time.Time { return t.AsTime().Truncate(time.Millisecond) }
