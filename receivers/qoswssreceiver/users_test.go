package qoswssreceiver

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

func testKeys(fill string) *pseudonym.Keys {
	return pseudonym.New(testAppID, []byte(strings.Repeat(fill, pseudonym.KeyBytes)))
}

// hashing returns a registry with an app that hashes user IDs.
func hashing() *testApps {
	return &testApps{apps: map[string]auth.App{testAppID: {ID: testAppID, HashUserIDs: true, Pseudonyms: testKeys("k")}}}
}

// hashingTranslator returns a translator of a user whose IDs are hashed, and how many IDs it dropped.
func hashingTranslator(user protocol.UserID, hello *protocol.Hello) (*translator, *int) {
	dropped := new(int)
	users := usersOf(hashing(), testAppID, func() { *dropped++ })
	return newTranslator(endpoint{testAppID, owner{user: user}, hello}, &address.Policy{}, users), dropped
}

func text(m pcommon.Map, name string) string {
	v, _ := m.Get(name)
	return v.AsString()
}

var aliceDoe = protocol.UserID{Name: "Alice Doe", Alias: "a-1"}

// Whatever names a user has the pseudonym, the same wherever it is: of the session, of the other end, of feedback and
// of the events of the interface.
//
// spec: PRIV-02, API-06
func TestTranslateHashesUsers(t *testing.T) {
	hello := testHello()
	hello.SiteID, hello.AdditionalIDs = "a-1", map[string]string{"customerID": "Alice Doe", "tenantID": "Alice Doe's"}
	tr, _ := hashingTranslator(aliceDoe, hello)
	id := testKeys("k").ID
	scope := protocol.Scope{Fabric: testFabric()}
	add := func(frame protocol.Frame) pcommon.Map {
		tr.add(frame, arrival)
		return records(tr.take())[0].Attributes()
	}
	tr.add(&protocol.Feedback{Header: header(1), Scope: scope, UserID: protocol.UserID{Name: "carol", Alias: "c-9"}, Overall: 3, Comment: "Carol, bob"}, arrival)
	logs := tr.take()
	resource, at := logs.ResourceLogs().At(0).Resource().Attributes(), logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes()
	require.Equal(t, id("Alice Doe"), text(resource, semconv.UserID))
	require.Equal(t, id("a-1"), text(resource, semconv.UserAlias))
	require.Equal(t, id("a-1"), text(resource, semconv.SiteID), "an ID that is the user's")
	require.Equal(t, id("Alice Doe"), text(resource, semconv.AdditionalPrefix+"customerID"))
	require.Equal(t, "Alice Doe's", text(resource, semconv.AdditionalPrefix+"tenantID"), "an ID of its own")
	require.Equal(t, id("bob"), text(at, semconv.RemoteUserID))
	require.Equal(t, id("b"), text(at, semconv.RemoteUserAlias))
	require.Equal(t, "standup", text(at, semconv.ConferenceID))
	feedback := records(logs)[0].Attributes()
	require.Equal(t, id("carol"), text(feedback, semconv.FeedbackUserID))
	require.Equal(t, id("c-9"), text(feedback, semconv.FeedbackUserAlias))
	require.Equal(t, id("carol")+", "+id("bob"), text(feedback, semconv.FeedbackComment))

	for data, want := range map[string]string{
		`{"userIDType":"local","newUserID":"dave"}`:                                      `{"newUserID":"DAVE","userIDType":"local"}`,
		`{"userIDType":"remote","newUserID":{"userName":"dave","aliasName":"d-4"}}`:      `{"newUserID":{"aliasName":"D-4","userName":"DAVE"},"userIDType":"remote"}`,
		`{"newUserID":7,"userID":["dave",{"x":"d-4","deep":[7]}],"remoteUserId":"dave"}`: `{"newUserID":"SEVEN","remoteUserId":"DAVE","userID":["DAVE",{"deep":["SEVEN"],"x":"D-4"}]}`,
	} {
		want = strings.NewReplacer("DAVE", id("dave"), "D-4", id("d-4"), "SEVEN", id("7")).Replace(want)
		require.Equal(t, want, text(add(&protocol.Event{Header: header(2), Scope: scope, Event: "userIDChange", Data: []byte(data)}), semconv.EventData))
	}
	owner := add(&protocol.Event{Header: header(3), Scope: scope, Event: "associateMstWithUserID", Data: []byte(`{"ssrc":70000,"userID":"70000","usageLabel":"cam of bob","associatedVideoTag":"bob"}`)})
	require.JSONEq(t, fmt.Sprintf(`{"associatedVideoTag":"%[1]s","ssrc":70000,"usageLabel":"cam of %[1]s","userID":"%[2]s"}`, id("bob"), id("70000")), text(owner, semconv.EventData))
}

// Texts that quote an ID of the session have the pseudonym in its place; what the server reads of them stays.
//
// spec: PRIV-02
func TestTranslateHashesUsersInTexts(t *testing.T) {
	tr, _ := hashingTranslator(aliceDoe, testHello())
	alice, bob := testKeys("k").ID("Alice Doe"), testKeys("k").ID("bob")
	scope := protocol.Scope{Fabric: testFabric()}
	tr.add(&protocol.ErrorReport{
		Header: header(1), Scope: scope, Function: "createOffer", Name: "bob", Message: "no offer to bob@203.0.113.7", Code: "bob", ConstraintName: "bob",
		Stack: "at https://x.example/Alice%20Doe/", Details: `{"peer":"bob","bob":[1,"ALICE DOE"],"userName":"zoe"}`, LocalSDP: "s=bob\r\no=bobby\r\n",
	}, arrival)
	r := records(tr.take())[0].Attributes()
	require.Equal(t, "no offer to "+bob+"@203.0.113.0", text(r, semconv.ErrorMessage))
	require.Equal(t, bob, text(r, semconv.ErrorName))
	require.Equal(t, bob, text(r, semconv.ErrorCode))
	require.Equal(t, bob, text(r, semconv.ErrorConstraintName))
	require.Equal(t, "at https://x.example/"+alice+"/", text(r, semconv.ErrorStack))
	require.JSONEq(t, fmt.Sprintf(`{"%[1]s":[1,"%[2]s"],"peer":"%[1]s","userName":"%[3]s"}`, bob, alice, testKeys("k").ID("zoe")), text(r, semconv.ErrorDetails))
	require.Equal(t, "s="+bob+"\r\no=bobby\r\n", text(r, semconv.ErrorLocalSDP), "a longer word is another")

	tr.add(&protocol.SDPPart{Header: header(2), Scope: scope, Error: 1, Field: "localSDP", Text: "s=bob\r\n"}, arrival)
	r = records(tr.take())[0].Attributes()
	require.Equal(t, "s="+bob+"\r\n", text(r, semconv.SDPText))
	require.Equal(t, "7", text(r, semconv.SDPBytes), "as it was sent")
	tr.add(&protocol.Log{Header: header(3), Scope: scope, Text: "zoe and bob"}, arrival)
	require.Equal(t, testKeys("k").ID("zoe")+" and "+bob, text(records(tr.take())[0].Attributes(), semconv.LogText), "an ID that an object had")
	tr.add(&protocol.Event{Header: header(4), Scope: scope, Event: "fabricSetup", Data: []byte(`{"setupMs":900.50,"localCandidateType":"host","relayProtocol":null,"localAddress":"192.0.2.7"}`)}, arrival)
	require.JSONEq(t, `{"localAddress":"192.0.2.0","localCandidateType":"host","relayProtocol":null,"setupMs":900.50}`, text(records(tr.take())[0].Attributes(), semconv.EventData))
	tr.add(statsOf8(), arrival)
	require.Equal(t, "VP8", text(records(tr.take())[0].Attributes(), eventtest.Stats("codec")))
}

// An ID that is a word of the protocol, or so short that every text has it, is hashed where it names a user and
// nowhere else.
func TestWordsAreNoUsers(t *testing.T) {
	for _, id := range []string{"host", "Host", "VP8", "stage", "ab", "4711", " "} {
		tr, _ := hashingTranslator(protocol.UserID{Name: id, Alias: id}, testHello())
		scope := protocol.Scope{Fabric: testFabric()}
		stats := statsOf8()
		tr.add(stats, arrival)
		logs := tr.take()
		require.Equal(t, testKeys("k").ID(id), text(logs.ResourceLogs().At(0).Resource().Attributes(), semconv.UserID))
		require.Equal(t, "VP8", text(records(logs)[0].Attributes(), eventtest.Stats("codec")))
		tr.add(&protocol.Event{Header: header(4), Scope: scope, Event: "fabricSetupFailed", Data: []byte(`{"localCandidateType":"host","stage":"ab 4711"}`)}, arrival)
		require.JSONEq(t, `{"localCandidateType":"host","stage":"ab 4711"}`, text(records(tr.take())[0].Attributes(), semconv.EventData), id)
		if id == "Host" { // it is no word, and texts that have "host" quote it
			continue
		}
		tr.add(&protocol.Log{Header: header(5), Scope: scope, Text: "typ host, VP8 at stage ab 4711"}, arrival)
		require.Equal(t, "typ host, VP8 at stage ab 4711", text(records(tr.take())[0].Attributes(), semconv.LogText), id)
	}
}

// Data that is not an object, or has odd values, stays JSON if it was.
func TestOddData(t *testing.T) {
	u := usersOf(hashing(), testAppID, func() {})
	alice := u.id("alice")
	for data, want := range map[string]string{
		``: ``, `{}`: `{}`, `null`: `null`, `["alice"]`: `["` + alice + `"]`, `{"a":1} alice`: `{"a":1} ` + alice, `{"alice`: `{"` + alice,
		`{"userID":null,"n":1e400,"b":true,"userName":""}`: `{"b":true,"n":1e400,"userID":null,"userName":""}`,
		`{"a":"<&>","n":12345678901234567890}`:             `{"a":"<&>","n":12345678901234567890}`,
	} {
		require.Equal(t, want, string(u.data([]byte(data))))
	}
	require.Equal(t, "alice", string((*users)(nil).data([]byte("alice"))))
}

// The IDs that texts are searched for are bounded and those beyond are counted; a text grows by a bounded length.
func TestUsersAreBounded(t *testing.T) {
	tr, dropped := hashingTranslator(aliceDoe, testHello())
	last := ""
	for n := range 2 * maxKnownUsers {
		last = fmt.Sprintf("user-%d", n)
		require.Equal(t, testKeys("k").ID(last), tr.users.id(last))
	}
	require.Equal(t, maxKnownUsers, tr.users.names.Len())
	require.Equal(t, maxKnownUsers+2, *dropped)
	require.Equal(t, testKeys("k").ID("user-0")+" "+last, tr.users.text("user-0 "+last))
	long := strings.Repeat("user-0 ", protocol.MaxLogTextBytes/7)
	require.LessOrEqual(t, len(tr.users.text(long)), len(long)+maxGrowth)
	require.NotContains(t, tr.users.text(long), "user-0")
}

// An app that was deleted a moment ago never gets the ID itself into a record.
func TestUsersOfADeletedApp(t *testing.T) {
	u := usersOf(&testApps{apps: map[string]auth.App{}}, "gone", func() {})
	stored := u.id("alice")
	require.True(t, pseudonym.Is(stored))
	require.NotEqual(t, stored, usersOf(&testApps{apps: map[string]auth.App{}}, "gone", func() {}).id("alice"))
}

// A client sees no difference: the answers to a handshake and to frames are the same, but for tokens and times.
//
// spec: PRIV-02
func TestAnswersDoNotShowHashing(t *testing.T) {
	c := startCollector(t)
	answers := func() string {
		var all []string
		s := newSession(c.receiver.shared, testOrigin, func(msg []byte) { all = append(all, string(msg)) })
		defer s.close()
		now := time.UnixMilli(time.Now().UnixMilli())
		for _, one := range []string{
			helloText(c.login("demo", testOrigin), 0), fmt.Sprintf(fabricText, now.UnixMilli()), logText(1), `{"type":"log","seq":2}`,
			fmt.Sprintf(`{"type":"event","seq":3,"at":%d,"fabric":1,"event":"userIDChange","data":{"userIDType":"local","newUserID":"carol"}}`, now.UnixMilli()),
		} {
			require.Nil(t, s.message([]byte(one), now))
		}
		s.flush(now)
		return regexp.MustCompile(`"at":\d+`).ReplaceAllString(strings.Join(all, "\n"), "")
	}
	plain := answers()
	require.Contains(t, plain, `"welcome"`)
	require.Contains(t, plain, `"nack"`)
	require.Contains(t, plain, `"ack"`)
	c.receiver.shared.apps.(*testApps).change("demo", func(app *auth.App) { app.HashUserIDs, app.Pseudonyms = true, testKeys("k") })
	require.Equal(t, plain, answers())
	user := text(c.sink.AllLogs()[len(c.sink.AllLogs())-1].ResourceLogs().At(0).Resource().Attributes(), semconv.UserID)
	require.Equal(t, testKeys("k").ID("alice"), user)
}

// An open connection ends when its app begins to hash, or hashes with another key, and its client connects again at
// once. Other changes do not end it.
//
// spec: PRIV-02
func TestHashingEndsConnections(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	apps := c.receiver.shared.apps.(*testApps)
	for _, change := range []func(*auth.App){
		func(app *auth.App) { app.HashUserIDs, app.Pseudonyms = true, testKeys("k") },
		func(app *auth.App) { app.Pseudonyms = testKeys("l") },
		func(app *auth.App) { app.HashUserIDs = false },
	} {
		p := c.connect("demo")
		apps.change("demo", func(app *auth.App) { app.StatsInterval += 2 * time.Second })
		p.hear("slow-down")
		p.say(logText(1))
		p.acked(1)
		apps.change("demo", change)
		p.bye(protocol.CodeGoingAway, true, websocket.CloseGoingAway)
	}
}

// The audit log names the pseudonym, also in a token ID that an origin server made of the user's.
//
// spec: PRIV-02, AUTH-04
func TestAuditHashesUsers(t *testing.T) {
	c, logs := audited(t)
	apps := c.receiver.shared.apps.(*testApps)
	for _, id := range []string{"demo", "third"} {
		apps.change(id, func(app *auth.App) { app.HashUserIDs, app.Pseudonyms = true, testKeys("k") })
	}
	c.login("demo", testOrigin)
	_, _ = c.post("auth", testOrigin, thirdParty(t, "bob", func(c jwt.MapClaims) { c["jti"] = "bob:1" }))
	_, _ = c.post("auth", "", thirdParty(t, "bob", unchanged))
	lines := logs.FilterLoggerName("audit").All()
	require.Len(t, lines, 3)
	id := testKeys("k").ID
	require.Equal(t, []any{id("alice"), id("a1")}, []any{lines[0].ContextMap()["user"], lines[0].ContextMap()["alias"]})
	require.Equal(t, []any{id("bob"), id("bob") + ":1"}, []any{lines[1].ContextMap()["user"], lines[1].ContextMap()["jti"]})
	require.Equal(t, id("bob"), lines[2].ContextMap()["user"], "refused ones too")
	for _, line := range logs.All() {
		require.NotRegexp(t, `alice|\ba1\b|bob`, fmt.Sprint(line.Message, line.ContextMap()))
	}
}

func BenchmarkTranslateUsers(b *testing.B) {
	scope := protocol.Scope{Fabric: testFabric()}
	event := &protocol.Event{Header: header(2), Scope: scope, Event: "fabricSetup", Data: []byte(`{"setupMs":900.5,"gatheringMs":100,"connectivityMs":800,"localCandidateType":"host","remoteCandidateType":"srflx","relayProtocol":null,"localAddress":"192.0.2.7","localAddresses":["192.0.2.7","2001:db8::1"]}`)}
	report := &protocol.ErrorReport{Header: header(3), Scope: scope, Function: "createOffer", LocalSDP: strings.Repeat("a=candidate:1 1 udp 2122260223 192.0.2.7 50000 typ host\r\n", 200)}
	for name, frame := range map[string]protocol.Frame{"stats8": statsOf8(), "event": event, "sdp": report} {
		for _, mode := range []string{"plain", "hash"} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				tr := testTranslator()
				if mode == "hash" {
					tr, _ = hashingTranslator(aliceDoe, testHello())
				}
				b.ReportAllocs()
				for b.Loop() {
					tr.add(frame, arrival)
					tr.take()
				}
			})
		}
	}
}
