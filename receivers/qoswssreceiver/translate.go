package qoswssreceiver

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/address"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/protocol"
)

// endpoint is what all records of a session share.
type endpoint struct {
	appID string
	owner owner
	hello *protocol.Hello
}

// translator turns the frames of one session into log records. It collects them until
// take; it has no clock and does no I/O.
type translator struct {
	appID     string
	session   string
	startedAt int64 // ms, from the session's UUID; 0 when it has none
	owner     owner
	resource  pcommon.Map
	fabrics   map[int]*fabricIDs
	addresses *address.Policy
	users     *users // nil: records have the IDs of users
	sdp       sdpBorder

	now    time.Time // arrival of the frame at hand
	logs   plog.Logs // what was collected
	scopes []openScope
	placed map[scopeKey]int // positions in scopes, once there are more than fewScopes
}

// fewScopes are looked through faster than a map. A skip may have one for each fabric of a connection.
const fewScopes = 8

// fabricIDs are computed once per announcement: two SHA-256 each.
type fabricIDs struct {
	of     *protocol.Fabric
	remote protocol.UserID // as records have it
	trace  pcommon.TraceID
	span   pcommon.SpanID
	at     int64
	fixed  bool // at is not what the client said
}

// scopeKey tells scopes of one batch apart: by fabric, or by conference and time.
type scopeKey struct {
	fabric       *protocol.Fabric
	conferenceID string
	conferenceAt int64
}

type openScope struct {
	key     scopeKey
	ids     *fabricIDs
	records plog.LogRecordSlice
}

func newTranslator(e endpoint, addresses *address.Policy, users *users) *translator {
	e.owner.recorded = users.user(e.owner.user)
	return &translator{
		appID:     e.appID,
		session:   e.hello.Session,
		startedAt: sessionTime(e.hello.Session),
		owner:     e.owner,
		resource:  resourceAttributes(e, addresses, users),
		fabrics:   make(map[int]*fabricIDs),
		addresses: addresses,
		users:     users,
	}
}

// resourceAttributes cuts addresses in all but the application's own IDs, and hashes the user's.
func resourceAttributes(e endpoint, addresses *address.Policy, users *users) pcommon.Map {
	user := e.owner.recorded
	m := pcommon.NewMap()
	m.EnsureCapacity(8 + len(e.hello.AdditionalIDs))
	m.PutStr(semconv.AppID, e.appID)
	m.PutStr(semconv.SessionID, e.hello.Session)
	putText(m, semconv.UserID, user.Name)
	putText(m, semconv.UserAlias, user.Alias)
	putText(m, semconv.ApplicationVersion, addresses.Version(users.text(e.hello.ApplicationVersion)))
	putText(m, semconv.SiteID, users.whole(e.hello.SiteID))
	putText(m, semconv.LibraryVersion, addresses.Version(users.text(e.hello.Library)))
	putText(m, semconv.UserAgent, addresses.Agent(users.text(e.hello.UserAgent)))
	for key, value := range e.hello.AdditionalIDs {
		putText(m, semconv.AdditionalPrefix+key, users.whole(value))
	}
	return m
}

// add translates one numbered frame that arrived at now. Other frames are nothing to it.
func (t *translator) add(frame protocol.Frame, now time.Time) {
	t.now = now
	switch f := frame.(type) {
	case *protocol.Stats:
		t.addStats(f)
	case *protocol.Event:
		r := t.record(f.Header, f.Scope, 0, semconv.EventEvent, 2)
		r.PutStr(semconv.EventName, f.Event)
		putText(r, semconv.EventData, t.eventData(f))
	case *protocol.ErrorReport:
		t.addError(f)
	case *protocol.SDPPart:
		t.addSDPPart(f)
	case *protocol.Feedback:
		t.addFeedback(f)
	case *protocol.Log:
		r := t.record(f.Header, f.Scope, 0, semconv.EventLog, 1)
		r.PutStr(semconv.LogText, t.text(f.Text))
	case *protocol.PreCall:
		t.addPreCall(f)
	case *protocol.Skip:
		t.addSkip(f)
	}
}

// take returns what was collected, and starts anew.
func (t *translator) take() plog.Logs {
	logs := t.logs
	t.logs = plog.Logs{}
	clear(t.scopes)
	t.scopes, t.placed = t.scopes[:0], nil
	return logs
}

// rest gives back the memory in which frames are collected.
func (t *translator) rest() {
	if t.empty() {
		t.scopes = nil
	}
}

// empty reports whether nothing was collected.
func (t *translator) empty() bool { return len(t.scopes) == 0 }

// text is a text of the application without what the records must not have.
func (t *translator) text(text string) string { return t.addresses.Text(t.users.text(text)) }

// eventData is the data of an event, addresses cut and user IDs hashed. The library has members for addresses
// in some events. An ID of a user is the same in all records, and no address.
func (t *translator) eventData(e *protocol.Event) string {
	data := t.owner.claimed(e.Event, t.users.data(e.Data))
	switch {
	case len(data) == 0:
		return ""
	case e.Event == "fabricSetup", e.Event == "selectedCandidatePairChange", e.Event == "wifiStats":
		return t.addresses.Members(data)
	case e.Event == "userIDChange", e.Event == "associateMstWithUserID":
		return t.addresses.Except(data, "newUserID", "userID", event.ClaimedUserID)
	}
	return t.addresses.Text(string(data))
}

func (t *translator) addStats(f *protocol.Stats) {
	scope := protocol.Scope{Fabric: f.Fabric}
	if len(f.Records) == 0 { // no streams, but alive
		t.record(f.Header, scope, 0, semconv.EventStats, 1).PutDouble(semconv.IntervalMs, f.IntervalMs)
		return
	}
	for i := range f.Records {
		row := &f.Records[i]
		r := t.record(f.Header, scope, i, semconv.EventStats, 3+len(row.Values))
		r.PutDouble(semconv.IntervalMs, f.IntervalMs)
		r.PutStr(semconv.StatsType, row.Columns.StatsType)
		putText(r, semconv.MediaType, row.Columns.MediaType)
		t.putValues(r, row)
	}
}

// putValues leaves absent what is null, and what has a name that no measure has.
func (t *translator) putValues(r pcommon.Map, row *protocol.Record) {
	for i, measure := range row.Columns.Measures {
		v := row.Values[i]
		if measure == protocol.UnknownMeasure || v.Kind == protocol.Null {
			continue
		}
		name := semconv.Measure(measure)
		switch {
		case v.Kind == protocol.String:
			r.PutStr(name, t.addresses.Text(t.users.measured(v.Str)))
		case measure.Info().Type == protocol.Int:
			r.PutInt(name, int64(v.Num))
		default:
			r.PutDouble(name, v.Num)
		}
	}
}

func (t *translator) addError(f *protocol.ErrorReport) {
	r := t.record(f.Header, f.Scope, 0, semconv.EventError, 11)
	r.PutStr(semconv.ErrorFunction, f.Function)
	text := func(name, value string) { putText(r, name, t.text(value)) }
	text(semconv.ErrorName, f.Name)
	text(semconv.ErrorMessage, f.Message)
	text(semconv.ErrorCode, f.Code)
	text(semconv.ErrorConstraintName, f.ConstraintName)
	text(semconv.ErrorStack, f.Stack)
	putText(r, semconv.ErrorDetails, t.addresses.Text(t.users.details(f.Details)))
	text(semconv.ErrorLocalSDP, f.LocalSDP)
	text(semconv.ErrorRemoteSDP, f.RemoteSDP)
	putCount(r, semconv.ErrorLocalSDPBytes, f.LocalSDPBytes)
	putCount(r, semconv.ErrorRemoteSDPBytes, f.RemoteSDPBytes)
}

func (t *translator) addFeedback(f *protocol.Feedback) {
	r := t.record(f.Header, f.Scope, 0, semconv.EventFeedback, 8)
	giver, claimed := t.owner.giver(f.UserID)
	user := t.users.user(giver)
	putText(r, semconv.FeedbackUserClaimed, t.users.user(claimed).Alias)
	putText(r, semconv.FeedbackUserID, user.Name)
	putText(r, semconv.FeedbackUserAlias, user.Alias)
	putCount(r, semconv.FeedbackOverall, f.Overall)
	putCount(r, semconv.FeedbackAudio, f.Audio)
	putCount(r, semconv.FeedbackVideo, f.Video)
	putCount(r, semconv.FeedbackScreen, f.Screen)
	putText(r, semconv.FeedbackComment, t.text(f.Comment))
}

// addSkip makes one record for each fabric that lost something, so that each conference
// learns of its own losses; index tells them apart. What belongs to no fabric, or a skip
// that lost nothing, stands under a scope without a conference.
func (t *translator) addSkip(f *protocol.Skip) {
	lost := f.Lost
	if len(lost) == 0 {
		lost = []protocol.Lost{{}}
	}
	for i, l := range lost {
		r := t.record(f.Header, protocol.Scope{Fabric: l.Fabric}, i, semconv.EventSkip, 3)
		r.PutInt(semconv.SkipFrom, int64(f.From))
		r.PutInt(semconv.SkipStats, int64(l.Stats))
		r.PutInt(semconv.SkipEvents, int64(l.Events))
	}
}

// record appends a log record and returns its attributes, those filled in that all
// records have and with room for more.
func (t *translator) record(h protocol.Header, s protocol.Scope, index int, name string, more int) pcommon.Map {
	scope := t.scope(s)
	at, fixed := plausible(h.At, t.now.Add(-protocol.MaxPast).UnixMilli(), t.now)
	r := scope.records.AppendEmpty()
	r.SetEventName(name)
	r.SetTimestamp(pcommon.Timestamp(at) * 1e6)
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(t.now))
	r.SetTraceID(scope.ids.trace)
	r.SetSpanID(scope.ids.span)
	attrs := r.Attributes()
	attrs.EnsureCapacity(3 + more)
	attrs.PutInt(semconv.FrameSeq, int64(h.Seq))
	attrs.PutInt(semconv.FrameIndex, int64(index))
	if fixed || scope.ids.fixed {
		attrs.PutBool(semconv.TimeCorrected, true)
	}
	return attrs
}

// scope finds or opens the ScopeLogs of a fabric or a conference.
func (t *translator) scope(s protocol.Scope) *openScope {
	key := scopeKey{fabric: s.Fabric}
	if s.Fabric == nil {
		key = scopeKey{nil, s.ConferenceID, s.ConferenceAt}
	}
	if open := t.opened(key); open != nil {
		return open
	}
	ids := t.ids(s)
	t.scopes = append(t.scopes, openScope{key, ids, t.newScopeLogs(s, ids).LogRecords()})
	if t.placed != nil {
		t.placed[key] = len(t.scopes) - 1
	}
	return &t.scopes[len(t.scopes)-1]
}

// opened returns the scope with a key, nil if there is none.
func (t *translator) opened(key scopeKey) *openScope {
	if len(t.scopes) > fewScopes {
		if t.placed == nil {
			t.placed = make(map[scopeKey]int)
			for i := range t.scopes {
				t.placed[t.scopes[i].key] = i
			}
		}
		if i, ok := t.placed[key]; ok {
			return &t.scopes[i]
		}
		return nil
	}
	for i := len(t.scopes) - 1; i >= 0; i-- {
		if t.scopes[i].key == key {
			return &t.scopes[i]
		}
	}
	return nil
}

// ids returns the trace and span id of a scope and its place in time. A conference
// cannot have begun long before the session, and however late a frame is about it, that
// holds: so the lower bound of the place is the session's start, not the arrival.
func (t *translator) ids(s protocol.Scope) *fabricIDs {
	earliest := t.startedAt - protocol.MaxPast.Milliseconds()
	if s.Fabric != nil {
		if ids := t.fabrics[s.Fabric.Fabric]; ids != nil && ids.of == s.Fabric {
			return ids
		}
		ids := &fabricIDs{
			of:     s.Fabric,
			remote: t.users.user(s.Fabric.RemoteUserID),
			trace:  semconv.TraceID(t.appID, s.Fabric.ConferenceID),
			span:   semconv.SpanID(t.session, s.Fabric.Fabric),
		}
		ids.at, ids.fixed = plausible(s.Fabric.AddedAt, earliest, t.now)
		t.fabrics[s.Fabric.Fabric] = ids
		return ids
	}
	if s.ConferenceID == "" {
		return new(fabricIDs)
	}
	ids := &fabricIDs{trace: semconv.TraceID(t.appID, s.ConferenceID)}
	ids.at, ids.fixed = plausible(s.ConferenceAt, earliest, t.now)
	return ids
}

func (t *translator) newScopeLogs(s protocol.Scope, ids *fabricIDs) plog.ScopeLogs {
	if t.empty() {
		t.logs = plog.NewLogs()
		t.resource.CopyTo(t.logs.ResourceLogs().AppendEmpty().Resource().Attributes())
	}
	logs := t.logs.ResourceLogs().At(0).ScopeLogs().AppendEmpty()
	logs.Scope().SetName(semconv.ScopeName)
	attrs := logs.Scope().Attributes()
	switch {
	case s.Fabric != nil:
		attrs.EnsureCapacity(8)
		attrs.PutStr(semconv.ConferenceID, s.Fabric.ConferenceID)
		attrs.PutInt(semconv.ConferenceAt, ids.at)
		putFabric(attrs, s.Fabric, ids.remote)
	case s.ConferenceID != "":
		attrs.EnsureCapacity(2)
		attrs.PutStr(semconv.ConferenceID, s.ConferenceID)
		attrs.PutInt(semconv.ConferenceAt, ids.at)
	}
	return logs
}

func putFabric(attrs pcommon.Map, f *protocol.Fabric, remote protocol.UserID) {
	attrs.PutInt(semconv.FabricID, int64(f.Fabric))
	attrs.PutStr(semconv.FabricUsage, f.FabricUsage)
	putText(attrs, semconv.FabricDirection, f.FabricTransmissionDirection)
	putText(attrs, semconv.RemoteEndpointType, f.RemoteEndpointType)
	putText(attrs, semconv.RemoteUserID, remote.Name)
	putText(attrs, semconv.RemoteUserAlias, remote.Alias)
}

// plausible returns at, or the arrival where at is before earliest or too far in the
// future (docs/protocol.md, section 5).
func plausible(at, earliest int64, now time.Time) (ms int64, fixed bool) {
	if at < earliest || at > now.Add(protocol.MaxFuture).UnixMilli() {
		return now.UnixMilli(), true
	}
	return at, false
}

// sessionTime returns the time in a UUID version 7, in ms; 0 where the id is none.
func sessionTime(session string) int64 {
	id, err := uuid.Parse(session)
	if err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(id[:8]) >> 16)
}

// putText leaves absent what is empty.
func putText(m pcommon.Map, name, value string) {
	if value != "" {
		m.PutStr(name, value)
	}
}

// putCount leaves absent what was not given.
func putCount(m pcommon.Map, name string, n int) {
	if n != 0 {
		m.PutInt(name, int64(n))
	}
}
