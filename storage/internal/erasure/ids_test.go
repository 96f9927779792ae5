package erasure

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/mask"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// spec: PRIV-02
func TestText(t *testing.T) {
	ids := NewIDs(map[string]string{"ann": "X", "ann lee": "Y", "zoë": "Z", "<a&b>": "W", "": "no"})
	f := func(text, want string) {
		t.Helper()
		got, changed := ids.Text(text)
		require.Equal(t, want, got)
		require.Equal(t, text != want, changed)
	}
	f("", "")
	f("ann", "X")
	f("annotated, joann, ann_, 1ann, änn, anné", "annotated, joann, X_, 1ann, änn, anné")
	f("ann: (ann) ann@example.test/ann?ann", "X: (X) X@example.test/X?X")
	f("ann lee and ann le", "Y and X le")
	f("zoë zoëx \xffann\xff", "Z zoëx \xffX\xff")
	f("x<a&b>y", "xWy")
	f("Ann ANN", "X X")
	f(`Ann%20Lee Ann+Lee zoe\u0308 ann_lee \nann\tAnn%2Fann "Zo\u00eb"`, `Y Y Z Y \nX\tX%2FX "Z"`)
}

// spec: PRIV-02
func TestJSON(t *testing.T) {
	ids := NewIDs(map[string]string{"ann": `"X"`, "4711": "Y", "true": "no"})
	f := func(text, want string) {
		t.Helper()
		got, changed := ids.JSON(text)
		require.Equal(t, want, got)
		require.Equal(t, text != want, changed)
	}
	f(`{"a": "ann",  "b":[1.50, "\u0061nn\n", true], "ann":4711, "n":47110, "m":-4711}`, `{"a": "\"X\"",  "b":[1.50, "\"X\"\n", true], "\"X\"":"Y", "n":47110, "m":-4711}`)
	f(`no JSON, ann`, `no JSON, "X"`)
	f(`{"a":"annex"}`, `{"a":"annex"}`)
	f(``, ``)
}

// A text without an identifier is never changed, and a changed JSON text is JSON.
func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringN(1, 6, 20).Draw(rt, "id")
		value, err := json.Marshal(map[string]string{"a": rapid.String().Draw(rt, "before") + " " + id + " " + rapid.String().Draw(rt, "after")})
		require.NoError(rt, err)
		got, _ := NewIDs(map[string]string{id: "erased-x"}).JSON(string(value))
		require.True(rt, json.Valid([]byte(got)), got)
		same, changed := NewIDs(map[string]string{id + "\x00no": "erased-x"}).JSON(string(value))
		require.False(rt, changed)
		require.Equal(rt, string(value), same)
	})
}

// Of the user's own record only what the lists name remains.
//
// spec: PRIV-02
func TestOwn(t *testing.T) {
	e := New(storage.User{AppID: "a", IDs: []string{"ann"}}, time.Now())
	own := func(attributes map[string]any) map[string]any {
		e.Find(true, nil).Own(attributes)
		return attributes
	}
	require.Equal(t, map[string]any{semconv.StatsType: "inbound-rtp", "n": int64(1), "f": 0.5, "b": true, semconv.RemoteUserID: "bob"}, own(map[string]any{
		semconv.StatsType: "inbound-rtp", "n": int64(1), "f": 0.5, "b": true, semconv.RemoteUserID: "bob", "unknown": "text", semconv.LogText: "I am ann",
	}))
	require.Equal(t, map[string]any{semconv.ErrorName: "NotAllowedError", semconv.ErrorFunction: "getUserMedia"}, own(map[string]any{
		semconv.ErrorName: "NotAllowedError", semconv.ErrorFunction: "getUserMedia", semconv.ErrorMessage: "no", semconv.ErrorStack: "at x", semconv.ErrorDetails: `{"a":1}`, semconv.ErrorLocalSDP: "v=0",
	}))
	require.NotContains(t, own(map[string]any{semconv.ErrorName: "ann broke it"}), semconv.ErrorName)
	event := func(name, data string) map[string]any {
		return own(map[string]any{semconv.EventName: name, semconv.EventData: data})
	}
	for _, c := range [][4]string{
		{"fabricSetup", `{"setupMs":12.5,"localCandidateType":"host","localAddress":"192.0.2.0","localAddresses":["192.0.2.0"]}`, "fabricSetup", `{"localCandidateType":"host","setupMs":12.5}`},
		{"limitsChange", `{"ssrc":7,"maxBitrate":4000,"limit":"ann"}`, "limitsChange", `{"maxBitrate":4000,"ssrc":7}`},
		{"playoutChange", `{"ssrc":7,"playout":"refused"}`, "playoutChange", `{"playout":"refused","ssrc":7}`},
		{"fabricSetupFailed", `{"stage":"dtls","reason":"see ann's mail"}`, "fabricSetupFailed", `{"stage":"dtls"}`},
		{"fabricSetupFailed", `{"stage":"annie","reason":"failed","localCandidates":2}`, "fabricSetupFailed", `{"localCandidates":2,"reason":"failed"}`},
		{"fabricTerminated", `{"reason":"annie","measurementFollows":true}`, "fabricTerminated", `{"measurementFollows":true}`},
		{"fabricTerminated", `{"reason":"pagehide","measurementFollows":"annie"}`, "fabricTerminated", `{"reason":"pagehide"}`},
		{"fabricSetup", `{"relayProtocol":null,"networkType":"annie","localCandidateType":["annie"]}`, "fabricSetup", `{"relayProtocol":null}`},
		{"streamAdded", `{"ssrc":7,"codec":"annie","mediaType":"audio","trackState":"live","cname":"annie"}`, "streamAdded", `{"mediaType":"audio","ssrc":7,"trackState":"live"}`},
		{"associateMstWithUserID", `{"ssrc":7,"userID":"bob","usageLabel":"annie"}`, "associateMstWithUserID", `{"ssrc":7,"userID":"bob"}`},
		{"activeDeviceList", `{"deviceList":[{"label":"ann's phone"}]}`, "activeDeviceList", `{}`},
		{"wifiStats", `{"rssi":-50,"ssid":"home of ann"}`, "wifiStats", `{"rssi":-50}`},
		{"userIDChange", `{"userIDType":"local","newUserID":"ann-2"}`, "userIDChange", `{"userIDType":"local"}`},
		{"userIDChange", `{"userIDType":"remote","newUserID":"bob"}`, "userIDChange", `{"newUserID":"bob","userIDType":"remote"}`},
		{"associateMstWithUserID", `{"ssrc":7,"userID":"ann"}`, "associateMstWithUserID", `{"ssrc":7,"userID":"` + e.Pseudonym + `"}`},
	} {
		require.Equal(t, map[string]any{semconv.EventName: c[2], semconv.EventData: c[3]}, event(c[0], c[1]), c[0])
	}
	for _, name := range []string{"customEvent", "customStats", "callDetails"} {
		require.Equal(t, map[string]any{semconv.EventName: name}, event(name, `{"n":1}`))
	}
	require.Equal(t, map[string]any{semconv.EventName: "customEvent"}, event("ann called", `{"n":1}`))
}

// A comment that the user gave through the session of another is the user's, in the record and in the summary.
//
// spec: PRIV-02
func TestFeedbackThroughAnother(t *testing.T) {
	e := New(storage.User{AppID: "a", IDs: []string{"ann"}}, time.Now())
	given := func(user string) map[string]any {
		attributes := map[string]any{semconv.FeedbackUserID: user, semconv.FeedbackUserAlias: user, semconv.FeedbackOverall: int64(2), semconv.FeedbackComment: "my nephew broke it"}
		e.Find(false, nil).Mention(attributes)
		return attributes
	}
	require.Equal(t, map[string]any{semconv.FeedbackUserID: e.Pseudonym, semconv.FeedbackUserAlias: e.Pseudonym, semconv.FeedbackOverall: int64(2)}, given("ann"))
	require.Equal(t, "my nephew broke it", given("bob")[semconv.FeedbackComment])
	claimed := map[string]any{semconv.FeedbackUserID: "bob", semconv.FeedbackUserClaimed: "ann", semconv.FeedbackComment: "good"}
	e.Find(false, nil).Mention(claimed)
	require.Equal(t, map[string]any{semconv.FeedbackUserID: "bob", semconv.FeedbackUserClaimed: e.Pseudonym, semconv.FeedbackComment: "good"}, claimed, "of the signed user")
	document, err := e.Find(false, nil).Document([]byte(`{"participants":[{"userID":"bob","alias":"bob","feedback":[`+
		`{"userID":"ann","alias":"ann","comment":"my nephew broke it"},{"userID":"bob","alias":"bob","claimed":"ann","comment":"again"},{"userID":"bob","alias":"bob","comment":"good"}]}]}`),
		func([16]byte) bool { return false }, e.Pseudonym)
	require.NoError(t, err)
	require.JSONEq(t, `{"participants":[{"userID":"bob","alias":"bob","feedback":[{"userID":"`+e.Pseudonym+`","alias":"`+e.Pseudonym+`","comment":""},`+
		`{"userID":"bob","alias":"bob","claimed":"`+e.Pseudonym+`","comment":"again"},`+
		`{"userID":"bob","alias":"bob","comment":"good"}]}]}`, string(document.Text))
}

// Of what a page wrote in place of words, nothing of the user's remains in a summary and its digest, and no ID in those of others.
//
// spec: PRIV-02
func TestWordsOfASummary(t *testing.T) {
	e := New(storage.User{AppID: "a", IDs: []string{"ann", "failed"}}, time.Now())
	document := func(user, reason, codec, other string) string {
		return `{"participants":[{"userID":"` + user + `","alias":"` + user + `","endReason":"` + reason + `","fabrics":[{"endReason":"` + reason + `","failureStage":"` + other +
			`","failureReason":"failed","localCandidateType":"` + other + `","remoteCandidateType":"relay","relayProtocol":"` + other + `","networkType":"` + other +
			`","state":"connected","streams":[{"codec":"` + codec + `"}]}]}]}`
	}
	fabric := func(other, codecs string) *digest.Digest {
		return &digest.Digest{Members: []digest.Member{{Fabrics: []digest.Fabric{{
			Usage: "audio", LocalCandidateType: other, RemoteCandidateType: "relay", RelayProtocol: other, NetworkType: other, Codecs: codecs,
		}}}}}
	}
	of, remain := "desk of Ann", "desk of "+e.Pseudonym
	for user, want := range map[string][2]any{
		"ann": {document(e.Pseudonym, "terminated", "", ""), fabric("", remain)},
		"bob": {document("bob", remain, remain, remain), fabric(remain, remain)},
	} {
		got, err := e.Find(false, nil).Document([]byte(document(user, of, of, of)), func([16]byte) bool { return false }, e.Pseudonym)
		require.NoError(t, err)
		require.JSONEq(t, want[0].(string), string(got.Text))
		body, changed := got.IDs.Digest(fabric(of, of).Encode(), func([16]byte) bool { return user == "ann" })
		require.True(t, changed)
		var d digest.Digest
		require.NoError(t, new(digest.Decoder).Decode(body, &d))
		require.Equal(t, want[1], &d)
	}
	words := document(e.Pseudonym, "iceFailed", "audio/opus", "")
	got, err := e.Find(false, nil).Document([]byte(words), func([16]byte) bool { return false }, e.Pseudonym)
	require.NoError(t, err)
	require.JSONEq(t, words, string(got.Text))
}

// An export has the feedback that the user gave through the session of another, and not one that another gave there.
//
// spec: PRIV-02
func TestExportOfFeedbackThroughAnother(t *testing.T) {
	x := NewExporter(NewKey(), map[string]bool{"ann": true})
	bob := x.Other("bob", "bob")
	for giver, want := range map[string]map[string]any{
		"ann": {semconv.FeedbackUserID: "ann", semconv.FeedbackUserAlias: "ann", semconv.FeedbackOverall: int64(2), semconv.FeedbackComment: bob + " broke it, said ann"},
		"bob": nil,
	} {
		require.Equal(t, want, x.Mention(map[string]any{
			semconv.FeedbackUserID: giver, semconv.FeedbackUserAlias: giver, semconv.FeedbackOverall: int64(2), semconv.FeedbackComment: map[string]string{"ann": "bob broke it, said ann", "bob": "mine"}[giver],
		}))
	}
}

// The label of a server in a pre-call test may have the user's name.
//
// spec: PRIV-02
func TestProvidersOfTests(t *testing.T) {
	e := New(storage.User{AppID: "a", IDs: []string{"ann"}}, time.Now())
	test := PreCall{Result: storage.PreCallResult{Reason: "ann left", NetworkType: "Ann’s", Providers: []storage.PreCallProvider{{Provider: "eu-1"}, {Provider: "desk of Ann"}}}}
	test.Row.Details = "{}"
	labels := func(p PreCall) []string {
		return []string{p.Result.Reason, p.Result.NetworkType, p.Result.Providers[0].Provider, p.Result.Providers[1].Provider}
	}
	own, err := e.Find(true, nil).OwnPreCall(test, e.Pseudonym)
	require.NoError(t, err)
	require.Equal(t, []string{"", "", "eu-1", "desk of " + e.Pseudonym}, labels(own))
	other, changed, err := e.Find(false, nil).PreCall(test)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, []string{e.Pseudonym + " left", e.Pseudonym + "’s", "eu-1", "desk of " + e.Pseudonym}, labels(other))
}

// An erasure that is stored and read again finds the same user, and has no ID.
//
// spec: PRIV-02
func TestErasureIsStoredWithoutIDs(t *testing.T) {
	e := New(storage.User{AppID: "a", IDs: []string{"ann-7f3a"}}, time.Now())
	e.Link("zoe-7f3b", "", "ann-7f3a", e.Pseudonym)
	require.Len(t, e.Linked.IDs.Sums, 1)
	s, err := e.Setting(time.Now())
	require.NoError(t, err)
	require.NotContains(t, string(s.Body), "7f3")
	again, err := Decode(&s)
	require.NoError(t, err)
	require.True(t, again.Names("bob", "ann-7f3a"))
	require.False(t, again.Names("zoe-7f3b", "ann-7f3A", ""))
	text, changed := again.Find(true, nil).Text("ann-7f3a and zoe-7f3b")
	require.True(t, changed)
	require.Equal(t, e.Pseudonym+" and "+e.Pseudonym, text)
	text, _ = again.Find(true, nil).Text("ANN%2D7f3a, Zoe_7f3b")
	require.Equal(t, e.Pseudonym+", "+e.Pseudonym, text)
	text, _ = again.Find(false, nil).Text("zoe-7f3b")
	require.Equal(t, "zoe-7f3b", text)
	require.NotEqual(t, New(storage.User{AppID: "a", IDs: []string{"ann-7f3a"}}, time.Now()).IDs.IDs.Sums[0].Sum, e.IDs.IDs.Sums[0].Sum, "another key")
	require.LessOrEqual(t, len(e.Pseudonym), 64)
	require.False(t, strings.ContainsAny(e.Pseudonym, `"\ `))
	_, err = Decode(&storage.Setting{ID: "x", Body: []byte("{")})
	require.Error(t, err)
}

// An erasure and an export find a name wherever masking does.
//
// spec: PRIV-02, DASH-03
func TestFormsAreThoseOfMasking(t *testing.T) {
	const stays = "·"
	letters := rapid.SampledFrom([]rune("ab nÄäßé.-_+%\\u0123456789\u0308\u200b李\"/fnrt:,"))
	rapid.Check(t, func(rt *rapid.T) {
		name, beside := rapid.StringOfN(letters, 1, 8, -1).Draw(rt, "name"), rapid.StringOfN(letters, 0, 12, -1)
		text := beside.Draw(rt, "before") + rapid.SampledFrom([]string{name, strings.ToUpper(name), url.QueryEscape(name), ""}).Draw(rt, "form") + beside.Draw(rt, "after")
		names := mask.New(1)
		names.Add(name, stays)
		want := names.Text(text)
		exported, _ := NewIDs(map[string]string{name: stays}).Text(text)
		require.Equal(rt, want, exported)
		e := New(storage.User{AppID: "a", IDs: []string{name}}, time.Now())
		erased, _ := e.Find(false, nil).Text(text)
		require.Equal(rt, want, strings.ReplaceAll(erased, e.Pseudonym, stays))
	})
}
