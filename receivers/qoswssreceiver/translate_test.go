package qoswssreceiver

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

const (
	testSession = "019aa4d6-2f3b-7c3e-9f10-2b6f0c1d2e3f" // 2025-11-21T05:14:51Z
	testAppID   = "123"
)

var arrival = time.UnixMilli(sessionTime(testSession)).Add(time.Minute)

func testHello() *protocol.Hello {
	return &protocol.Hello{
		Session: testSession, Library: "1.0.0", UserAgent: "UA/1", ApplicationVersion: "2.3", SiteID: "hq",
		AdditionalIDs: map[string]string{"tenantID": "t1"},
	}
}

func testTranslator() *translator {
	return newTranslator(endpoint{testAppID, owner{user: protocol.UserID{Name: "Alice Doe", Alias: "a1"}}, testHello()}, &address.Policy{}, nil)
}

func testFabric() *protocol.Fabric {
	return &protocol.Fabric{
		Fabric: 3, ConferenceID: "standup", AddedAt: arrival.Add(-5 * time.Second).UnixMilli(),
		RemoteUserID: protocol.UserID{Name: "bob", Alias: "b"}, FabricUsage: "multiplex",
		RemoteEndpointType: "peer", FabricTransmissionDirection: "sendrecv",
	}
}

func columns(set int, statsType, mediaType string, names ...string) *protocol.Columns {
	c := &protocol.Columns{Set: set, StatsType: statsType, MediaType: mediaType, Names: names}
	for _, name := range names {
		c.Measures = append(c.Measures, protocol.MeasureNamed(name))
	}
	return c
}

func number(n float64) protocol.Value { return protocol.Value{Kind: protocol.Number, Num: n} }

func header(seq uint64) protocol.Header {
	return protocol.Header{Seq: seq, At: arrival.Add(-time.Second).UnixMilli()}
}

// records returns all records of a batch in order.
func records(logs plog.Logs) []plog.LogRecord {
	var out []plog.LogRecord
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				out = append(out, record)
			}
		}
	}
	return out
}

func raw(m pcommon.Map) map[string]any { return m.AsRaw() }

// spec: SRV-05
func TestTranslateStats(t *testing.T) {
	tr, fabric := testTranslator(), testFabric()
	inbound := columns(1, "inbound-rtp", "audio", "ssrc", "codec", "packets", "jitterMs", "notAMeasure", "packetsLost")
	pair := columns(2, "candidate-pair", "", "rttMs")
	tr.add(&protocol.Stats{Header: header(17), Fabric: fabric, IntervalMs: 10003, Records: []protocol.Record{
		{Columns: inbound, Values: []protocol.Value{number(3735928559), {Kind: protocol.String, Str: "opus"}, number(501), number(3.5), number(9), {}}},
		{Columns: pair, Values: []protocol.Value{number(41)}},
	}}, arrival)
	logs := tr.take()

	resource := logs.ResourceLogs().At(0)
	require.Equal(t, 1, logs.ResourceLogs().Len())
	require.Equal(t, map[string]any{
		"qos.app.id": testAppID, "qos.session.id": testSession, "qos.user.id": "Alice Doe", "qos.user.alias": "a1",
		"qos.application.version": "2.3", "qos.site.id": "hq", "qos.additional.tenantID": "t1",
		"qos.library.version": "1.0.0", "user_agent.original": "UA/1",
	}, raw(resource.Resource().Attributes()))

	require.Equal(t, 1, resource.ScopeLogs().Len())
	scope := resource.ScopeLogs().At(0).Scope()
	require.Equal(t, semconv.ScopeName, scope.Name())
	require.Equal(t, map[string]any{
		"qos.conference.id": "standup", "qos.conference.at": fabric.AddedAt, "qos.fabric.id": int64(3),
		"qos.fabric.usage": "multiplex", "qos.fabric.direction": "sendrecv", "qos.remote.endpoint_type": "peer",
		"qos.remote.user.id": "bob", "qos.remote.user.alias": "b",
	}, raw(scope.Attributes()))

	rows := records(logs)
	require.Len(t, rows, 2)
	require.Equal(t, map[string]any{
		"qos.frame.seq": int64(17), "qos.frame.index": int64(0), "qos.interval_ms": 10003.0,
		"qos.stats.type": "inbound-rtp", "qos.media.type": "audio", "qos.stats.ssrc": int64(3735928559),
		"qos.stats.codec": "opus", "qos.stats.packets": int64(501), "qos.stats.jitter_ms": 3.5,
	}, raw(rows[0].Attributes()))
	require.Equal(t, map[string]any{
		"qos.frame.seq": int64(17), "qos.frame.index": int64(1), "qos.interval_ms": 10003.0,
		"qos.stats.type": "candidate-pair", "qos.stats.rtt_ms": 41.0,
	}, raw(rows[1].Attributes()))
	require.Equal(t, semconv.EventStats, rows[0].EventName())
	require.Equal(t, header(17).At, rows[0].Timestamp().AsTime().UnixMilli())
	require.True(t, arrival.Equal(rows[0].ObservedTimestamp().AsTime()))
	require.Equal(t, pcommon.TraceID(semconv.TraceID(testAppID, "standup")), rows[0].TraceID())
	require.Equal(t, pcommon.SpanID(semconv.SpanID(testSession, 3)), rows[0].SpanID())
}

func TestTranslateStatsWithoutRowsMeansAlive(t *testing.T) {
	tr := testTranslator()
	tr.add(&protocol.Stats{Header: header(1), Fabric: testFabric(), IntervalMs: 10000}, arrival)
	rows := records(tr.take())
	require.Len(t, rows, 1)
	require.Equal(t, map[string]any{"qos.frame.seq": int64(1), "qos.frame.index": int64(0), "qos.interval_ms": 10000.0}, raw(rows[0].Attributes()))
}

// Every measure of the protocol has its attribute.
func TestTranslateKnowsAllMeasures(t *testing.T) {
	tr := testTranslator()
	for i := range protocol.Measures {
		c := columns(1, "inbound-rtp", "video", protocol.Measures[i].Name)
		tr.add(&protocol.Stats{Header: header(1), Fabric: testFabric(), Records: []protocol.Record{{Columns: c, Values: []protocol.Value{number(7)}}}}, arrival)
		_, ok := records(tr.take())[0].Attributes().Get(eventtest.Stats(c.Names[0]))
		require.True(t, ok, c.Names[0])
	}
}

// spec: SRV-05
func TestTranslateOtherFrames(t *testing.T) {
	fabric := testFabric()
	of := protocol.Scope{Fabric: fabric}
	conference := protocol.Scope{ConferenceID: "standup", ConferenceAt: arrival.UnixMilli()}
	f := func(frame protocol.Frame, name string, want map[string]any) {
		t.Helper()
		tr := testTranslator()
		tr.add(frame, arrival)
		got := records(tr.take())
		require.Len(t, got, 1)
		require.Equal(t, name, got[0].EventName())
		want["qos.frame.seq"], want["qos.frame.index"] = int64(4), int64(0)
		require.Equal(t, want, raw(got[0].Attributes()))
	}
	f(&protocol.Event{Header: header(4), Scope: of, Event: "audioMute", Data: json.RawMessage(`{"a":1}`)}, semconv.EventEvent,
		map[string]any{"qos.event.name": "audioMute", "qos.event.data": `{"a":1}`})
	f(&protocol.Event{Header: header(4), Scope: conference, Event: "dominantSpeaker"}, semconv.EventEvent,
		map[string]any{"qos.event.name": "dominantSpeaker"})
	f(&protocol.ErrorReport{Header: header(4), Scope: of, Function: "createOffer", Name: "OperationError", Message: "m", LocalSDP: "l", RemoteSDP: "r"},
		semconv.EventError, map[string]any{
			"qos.error.function": "createOffer", "qos.error.name": "OperationError",
			"qos.error.message": "m", "qos.error.local_sdp": "l", "qos.error.remote_sdp": "r",
		})
	f(&protocol.ErrorReport{
		Header: header(4), Scope: of, Function: "getUserMedia", Code: "7", ConstraintName: "width", Stack: "at a", Details: `{"b":1}`,
		LocalSDPBytes: 70_000, RemoteSDPBytes: 131_072,
	}, semconv.EventError, map[string]any{
		"qos.error.function": "getUserMedia", "qos.error.code": "7", "qos.error.constraint_name": "width", "qos.error.stack": "at a",
		"qos.error.details": `{"b":1}`, "qos.error.local_sdp.bytes": int64(70_000), "qos.error.remote_sdp.bytes": int64(131_072),
	})
	f(&protocol.SDPPart{Header: header(4), Scope: conference, Error: 3, Field: "remoteSDP", Offset: 16_000, Text: "a=mid:1\r\n"},
		semconv.EventSDP, map[string]any{
			"qos.sdp.error": int64(3), "qos.sdp.field": "remoteSDP", "qos.sdp.offset": int64(16_000), "qos.sdp.text": "a=mid:1\r\n",
		})
	f(&protocol.Feedback{Header: header(4), Scope: conference, UserID: protocol.UserID{Name: "alice", Alias: "a"}, Overall: 4, Audio: 5, Video: 3, Comment: "c"},
		semconv.EventFeedback, map[string]any{
			"qos.feedback.user.id": "alice", "qos.feedback.user.alias": "a",
			"qos.feedback.overall": int64(4), "qos.feedback.audio": int64(5), "qos.feedback.video": int64(3), "qos.feedback.comment": "c",
		})
	f(&protocol.Log{Header: header(4), Scope: of, Text: "hello"}, semconv.EventLog, map[string]any{"qos.log.text": "hello"})
	f(&protocol.Skip{Header: header(4), From: 2}, semconv.EventSkip,
		map[string]any{"qos.skip.from": int64(2), "qos.skip.stats": int64(0), "qos.skip.events": int64(0)})
}

// Each conference learns what it lost.
func TestTranslateSkipPerFabric(t *testing.T) {
	tr := testTranslator()
	other := testFabric()
	other.Fabric, other.ConferenceID = 4, "retro"
	tr.add(&protocol.Skip{Header: header(29), From: 20, Lost: []protocol.Lost{{Fabric: testFabric(), Stats: 9}, {Fabric: other, Events: 1}}}, arrival)
	got := records(tr.take())
	require.Len(t, got, 2)
	for i, conferenceID := range []string{"standup", "retro"} {
		require.Equal(t, pcommon.TraceID(semconv.TraceID(testAppID, conferenceID)), got[i].TraceID())
		index, _ := got[i].Attributes().Get(semconv.FrameIndex)
		require.EqualValues(t, i, index.Int(), "records of one frame are distinct")
	}
}

// Each fabric has one scope, however many there are.
func TestTranslateManyScopes(t *testing.T) {
	tr := testTranslator()
	var lost []protocol.Lost
	for i := range 3 * fewScopes {
		fabric := testFabric()
		fabric.Fabric, fabric.ConferenceID = i+1, strconv.Itoa(i)
		lost = append(lost, protocol.Lost{Fabric: fabric})
	}
	for range 2 {
		tr.add(&protocol.Skip{Header: header(29), From: 29, Lost: lost}, arrival)
		tr.add(&protocol.Skip{Header: header(30), From: 30, Lost: lost}, arrival)
		scopes := tr.take().ResourceLogs().At(0).ScopeLogs()
		require.Equal(t, len(lost), scopes.Len())
		for i, scope := range scopes.All() {
			id, _ := scope.Scope().Attributes().Get(semconv.ConferenceID)
			require.Equal(t, strconv.Itoa(i), id.Str())
			require.Equal(t, 2, scope.LogRecords().Len())
		}
	}
}

// spec: SRV-05
func TestTranslateConferenceScopes(t *testing.T) {
	tr, fabric := testTranslator(), testFabric()
	at := arrival.UnixMilli()
	tr.add(&protocol.Log{Header: header(1), Scope: protocol.Scope{Fabric: fabric}, Text: "a"}, arrival)
	tr.add(&protocol.Log{Header: header(2), Scope: protocol.Scope{ConferenceID: "standup", ConferenceAt: at}, Text: "b"}, arrival)
	tr.add(&protocol.Log{Header: header(3), Scope: protocol.Scope{Fabric: fabric}, Text: "c"}, arrival)
	logs := tr.take()
	scopes := logs.ResourceLogs().At(0).ScopeLogs()
	require.Equal(t, 2, scopes.Len())
	require.Equal(t, 2, scopes.At(0).LogRecords().Len(), "frames of one fabric share a scope")
	require.Equal(t, map[string]any{"qos.conference.id": "standup", "qos.conference.at": at}, raw(scopes.At(1).Scope().Attributes()))
	record := scopes.At(1).LogRecords().At(0)
	require.Equal(t, pcommon.TraceID(semconv.TraceID(testAppID, "standup")), record.TraceID())
	require.True(t, record.SpanID().IsEmpty())
	require.True(t, tr.empty(), "take starts anew")
}

func TestTranslateCorrectsTimes(t *testing.T) {
	f := func(at, addedAt time.Duration, wantAt, wantAddedAt time.Duration, corrected bool) {
		t.Helper()
		tr, fabric := testTranslator(), testFabric()
		fabric.AddedAt = arrival.Add(addedAt).UnixMilli()
		h := protocol.Header{Seq: 1, At: arrival.Add(at).UnixMilli()}
		tr.add(&protocol.Log{Header: h, Scope: protocol.Scope{Fabric: fabric}}, arrival)
		logs := tr.take()
		record := records(logs)[0]
		require.Equal(t, arrival.Add(wantAt).UnixMilli(), record.Timestamp().AsTime().UnixMilli())
		_, marked := record.Attributes().Get(semconv.TimeCorrected)
		require.Equal(t, corrected, marked)
		got, _ := logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().Get(semconv.ConferenceAt)
		require.Equal(t, arrival.Add(wantAddedAt).UnixMilli(), got.Int())
	}
	const day = 24 * time.Hour
	f(-time.Second, -time.Minute, -time.Second, -time.Minute, false)
	f(-day, 0, -day, 0, false)
	f(-day-time.Millisecond, 0, 0, 0, true)
	f(time.Minute, time.Minute, time.Minute, time.Minute, false)
	f(time.Minute+time.Millisecond, 0, 0, 0, true)
	f(0, time.Hour, 0, 0, true)
	f(0, -2*day, 0, 0, true)
}

// A conference of some days ago keeps its place when the session is as old.
func TestTranslateKeepsOldConferences(t *testing.T) {
	tr := testTranslator()
	later := arrival.Add(72 * time.Hour)
	tr.add(&protocol.Feedback{
		Header:  protocol.Header{Seq: 1, At: later.UnixMilli()},
		Scope:   protocol.Scope{ConferenceID: "standup", ConferenceAt: arrival.UnixMilli()},
		Overall: 3,
	}, later)
	logs := tr.take()
	got, _ := logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().Get(semconv.ConferenceAt)
	require.Equal(t, arrival.UnixMilli(), got.Int())
}

// statsOf8 is a measurement of 8 streams, 18 values each.
func statsOf8() *protocol.Stats {
	set := columns(1, "inbound-rtp", "video", "ssrc", "codec", "bytes", "packets", "packetsLost", "jitterMs", "rttMs", "frames",
		"framesDecoded", "framesDropped", "keyFrames", "width", "height", "fps", "freezes", "freezeMs", "plis", "nacks")
	f := &protocol.Stats{Header: header(1), Fabric: testFabric(), IntervalMs: 10000}
	for range 8 {
		row := protocol.Record{Columns: set}
		for i := range set.Names {
			row.Values = append(row.Values, number(float64(i)+0.25))
		}
		row.Values[1] = protocol.Value{Kind: protocol.String, Str: "VP8"}
		f.Records = append(f.Records, row)
	}
	return f
}

// pdata takes one allocation for each value and four for each record; what is added to
// that is ours. Raise the budget in the change that needs it.
func TestTranslateBudget(t *testing.T) {
	tr, frame := testTranslator(), statsOf8()
	allocations := testing.AllocsPerRun(100, func() {
		tr.add(frame, arrival)
		tr.take()
	})
	require.LessOrEqual(t, allocations, 230.0)
}

func BenchmarkTranslateStats8(b *testing.B) {
	tr, frame := testTranslator(), statsOf8()
	b.ReportAllocs()
	for b.Loop() {
		tr.add(frame, arrival)
		if tr.take().LogRecordCount() != 8 {
			b.Fatal("records were lost")
		}
	}
}
