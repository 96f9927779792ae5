package qoswssreceiver

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// endpoint is the common data of all records of a session.
type endpoint struct {
	appID string
	owner owner
	hello *protocol.Hello
}

// translator converts the frames of one session to log records. It collects them until take; it has
// no clock and does no I/O.
type translator struct {
	appID     string
	session   string
	startedAt int64 // ms, from the session's UUID; 0 when it has none
	owner     owner
	resource  pcommon.Map
	fabrics   map[int]*fabricIDs
	addresses *address.Policy
	users     *users // nil: records have the user IDs as they are
	sdp       sdpBorder

	now        time.Time // arrival of the current frame
	logs       plog.Logs // the collected records
	scopes     []openScope
	scopeIndex map[scopeKey]int // index in scopes, if there are more than fewScopes
}

// fewScopes is the number of scopes up to which a linear search is faster. A skip may have one for each fabric.
const fewScopes = 8

// fabricIDs are computed once for each announcement: two SHA-256 each.
type fabricIDs struct {
	fabric    *protocol.Fabric
	remote    protocol.UserID // with the IDs that records have
	trace     pcommon.TraceID
	span      pcommon.SpanID
	at        int64
	corrected bool // at is the arrival time, because the client's time was out of range
}

// scopeKey identifies a scope of a batch: by fabric, or by conference and time.
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

// resourceAttributes cuts addresses in all texts except the application's own IDs, and hashes the user's IDs.
func resourceAttributes(e endpoint, addresses *address.Policy, users *users) pcommon.Map {
	user := e.owner.recorded
	m := pcommon.NewMap()
	m.EnsureCapacity(8 + len(e.hello.AdditionalIDs))
	m.PutStr(semconv.AppID, e.appID)
	m.PutStr(semconv.SessionID, e.hello.Session)
	putText(m, semconv.UserID, user.Name)
	putText(m, semconv.UserAlias, user.Alias)
	putText(m, semconv.ApplicationVersion, addresses.Version(users.text(e.hello.ApplicationVersion)))
	putText(m, semconv.SiteID, users.wholeID(e.hello.SiteID))
	putText(m, semconv.LibraryVersion, addresses.Version(users.text(e.hello.Library)))
	putText(m, semconv.UserAgent, addresses.Agent(users.text(e.hello.UserAgent)))
	for key, value := range e.hello.AdditionalIDs {
		putText(m, semconv.AdditionalPrefix+key, users.wholeID(value))
	}
	return m
}

// add translates one numbered frame that arrived at now. It ignores other frames.
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

// take returns the collected records and starts a new batch.
func (t *translator) take() plog.Logs {
	logs := t.logs
	t.logs = plog.Logs{}
	clear(t.scopes)
	t.scopes, t.scopeIndex = t.scopes[:0], nil
	return logs
}

// rest frees the memory in which frames are collected.
func (t *translator) rest() {
	if t.empty() {
		t.scopes = nil
	}
}

// empty reports whether there are no collected records.
func (t *translator) empty() bool { return len(t.scopes) == 0 }

// text returns a text of the application, addresses cut and user IDs hashed.
func (t *translator) text(text string) string { return t.addresses.Text(t.users.text(text)) }

// eventData returns the data of an event, addresses cut and user IDs hashed. Some events of the library have members
// for addresses. A user ID must be the same in all records, so no address is cut in it.
func (t *translator) eventData(e *protocol.Event) string {
	data := t.owner.claimedData(e.Event, t.users.data(e.Data))
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
	if len(f.Records) == 0 { // no streams: the record shows that the connection is alive
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

// putValues omits nulls, and columns with an unknown name.
func (t *translator) putValues(r pcommon.Map, row *protocol.Record) {
	for i, measure := range row.Columns.Measures {
		v := row.Values[i]
		if measure == protocol.UnknownMeasure || v.Kind == protocol.Null {
			continue
		}
		name := semconv.Measure(measure)
		switch {
		case v.Kind == protocol.String:
			r.PutStr(name, t.addresses.Text(t.users.measuredText(v.Str)))
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
	giver, claimed := t.owner.feedbackUser(f.UserID)
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

// addSkip adds one record for each fabric with losses, so that each conference has its own losses;
// the records differ by index. Losses of no fabric, or a skip without losses, are under a scope
// without a conference.
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

// record appends a log record with the attributes that all records have. It returns the attributes,
// with room for more.
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
	if fixed || scope.ids.corrected {
		attrs.PutBool(semconv.TimeCorrected, true)
	}
	return attrs
}

// scope returns the ScopeLogs of a fabric or a conference, a new one if there is none.
func (t *translator) scope(s protocol.Scope) *openScope {
	key := scopeKey{fabric: s.Fabric}
	if s.Fabric == nil {
		key = scopeKey{nil, s.ConferenceID, s.ConferenceAt}
	}
	if open := t.findScope(key); open != nil {
		return open
	}
	ids := t.ids(s)
	t.scopes = append(t.scopes, openScope{key, ids, t.newScopeLogs(s, ids).LogRecords()})
	if t.scopeIndex != nil {
		t.scopeIndex[key] = len(t.scopes) - 1
	}
	return &t.scopes[len(t.scopes)-1]
}

// findScope returns the scope with a key, nil if there is none.
func (t *translator) findScope(key scopeKey) *openScope {
	if len(t.scopes) > fewScopes {
		if t.scopeIndex == nil {
			t.scopeIndex = make(map[scopeKey]int)
			for i := range t.scopes {
				t.scopeIndex[t.scopes[i].key] = i
			}
		}
		if i, ok := t.scopeIndex[key]; ok {
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

// ids returns the trace and span ID of a scope, and the start of its conference. A conference cannot
// have begun long before the session, however late its frames arrive, so the lower bound of the
// start depends on the session's start, not on the arrival.
func (t *translator) ids(s protocol.Scope) *fabricIDs {
	earliest := t.startedAt - protocol.MaxPast.Milliseconds()
	if s.Fabric != nil {
		if ids := t.fabrics[s.Fabric.Fabric]; ids != nil && ids.fabric == s.Fabric {
			return ids
		}
		ids := &fabricIDs{
			fabric: s.Fabric,
			remote: t.users.user(s.Fabric.RemoteUserID),
			trace:  semconv.TraceID(t.appID, s.Fabric.ConferenceID),
			span:   semconv.SpanID(t.session, s.Fabric.Fabric),
		}
		ids.at, ids.corrected = plausible(s.Fabric.AddedAt, earliest, t.now)
		t.fabrics[s.Fabric.Fabric] = ids
		return ids
	}
	if s.ConferenceID == "" {
		return new(fabricIDs)
	}
	ids := &fabricIDs{trace: semconv.TraceID(t.appID, s.ConferenceID)}
	ids.at, ids.corrected = plausible(s.ConferenceAt, earliest, t.now)
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

// plausible returns at, or the arrival if at is before earliest or too far in the future
// (docs/protocol.md, section 5).
func plausible(at, earliest int64, now time.Time) (ms int64, fixed bool) {
	if at < earliest || at > now.Add(protocol.MaxFuture).UnixMilli() {
		return now.UnixMilli(), true
	}
	return at, false
}

// sessionTime returns the time of a UUID version 7, in ms; 0 if the session ID is no UUID.
func sessionTime(session string) int64 {
	id, err := uuid.Parse(session)
	if err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(id[:8]) >> 16)
}

// putText omits an empty text.
func putText(m pcommon.Map, name, value string) {
	if value != "" {
		m.PutStr(name, value)
	}
}

// putCount omits a zero.
func putCount(m pcommon.Map, name string, n int) {
	if n != 0 {
		m.PutInt(name, int64(n))
	}
}
