package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/browser"
)

// spokenOutcome is what testdata/pages/interface.html says it did, and heard.
type spokenOutcome struct {
	Errors, Synchronous []string
	Stage               string
	Answers             map[string]answer
	Heard               struct{ Init, Fabric, Feedback, Errors [][]string }
	Enumerations        map[string]map[string]any
	Devices             int
	Refusal             struct{ Name, Message string }
	SSRC                float64
	Track               map[string]any
	Turn                any
	Nonsense            struct {
		Thrown []string
		Count  int
	}
	Terminated []string
	Rooms      struct{ Room, Other, Longest string }
}

// line is an entry of a conference's time-line, as the dashboard's page has it.
type line struct {
	At                                                       int64
	Fabric                                                   int
	Kind, Name, Function, Message, LocalSDP, RemoteSDP, Text string
	Data                                                     map[string]any
	Feedback                                                 *struct {
		User                  string
		Overall, Audio, Video *int
		Comment               string
	}
}

// kept is what the collector made of a conference.
type kept struct {
	Conference struct {
		State            string
		StartAt          int64
		ParticipantCount int
		Participants     []struct {
			User    string
			Details map[string]string
		}
	}
	Fabrics []struct {
		Fabric                                           int
		Usage, Direction, RemoteEndpointType, RemoteUser string
	}
	Streams  []heldStream
	Timeline []line
	Summary  conference.Summary

	CustomStats []struct {
		Name   string
		Points struct {
			T     []int64
			Value []float64
		}
	}
}

// heldStream is a stream of the dashboard's page.
type heldStream struct {
	Fabric                                 int
	SSRC                                   float64
	StatsType, MediaType, User, UsageLabel string
	BitrateKbps                            []*float64
}

// TestInterface says everything that there is to say in real browsers, rightly and wrongly,
// and holds what the collector keeps against it.
//
// spec: LIB-05, LIB-06, LIB-07, LIB-09, INIT-01, INIT-03, INIT-04, INIT-05, INIT-06, INIT-07, INIT-08
// spec: FAB-01, FAB-02, FAB-03, FAB-04, FAB-05, FAB-06, FAB-07, FAB-08, FAB-09, FAB-10, FAB-11, FAB-12, FAB-13, FAB-14
// spec: API-01, API-02, API-03, API-04, API-05, API-06, API-07, API-08, API-09, API-10, API-12, STAT-02
func TestInterface(t *testing.T) {
	browser.Require(t, browserKinds()...)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.start()
	served.of(t, c)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			p := openPage(t, browser.Start(t, kind), kind, served.url+"/interface.html?"+url.Values{"name": {kind}}.Encode())
			until(t, p, "outcome.done || outcome.errors.length")
			var got spokenOutcome
			p.Get("outcome", &got)
			require.Empty(t, got.Errors)
			checkAnswers(t, &got)
			checkHeard(t, &got)
			whole := theConference(t, c, got.Rooms.Room, 2)
			checkEvents(t, &got, whole)
			checkErrors(t, &got, whole)
			checkUsers(t, &got, whole)
			checkCustomStats(t, c, p.Browser, &got, whole)
			checkOtherRooms(t, c, &got)
		})
	}
}

// formerValues are the values of the former library that are not their names.
var formerValues = map[string]any{
	"ok": "OK", "invalidWebRTCFunctionName": "Invalid WebRTC function name", "invalidEndPointType": "Invalid EndPoint Type",
	"invalidTransmissionDirection": "Invalid fabric transmission direction",
	"excellent":                    5.0, "good": 4.0, "fair": 3.0, "poor": 2.0, "bad": 1.0,
}

// checkAnswers: what is right succeeds, with nothing to say or with what was ignored; what is
// wrong fails by name.
func checkAnswers(t *testing.T, got *spokenOutcome) {
	t.Helper()
	notes := map[string][]string{
		"initialize": {
			"applicationVersion was cut to 30 characters", "additionalIDs.shoe is unknown and ignored",
			"collectIP must be a boolean, got a string: ignored", "colour is unknown and ignored",
		},
		"fabric":                   {"fabricAttributes.colour is unknown and ignored"},
		"fabric in the older form": {"remoteUserID.userName is missing, aliasName was taken"},
		"fabric again":             {"is monitored already"},
		"fabricTerminated again":   {"the fabric has ended already"},
	}
	notes["initialize again"], notes["initialize for somebody else"] = notes["initialize"], notes["initialize"]
	wrong := map[string]string{
		"fabric before":              "initialize() must be called first",
		"fabric of 257 bytes":        "conferenceID must be at most 256 bytes, got 257",
		"fabricSetup":                "fabricSetup is made by the library itself",
		"fabricSetupFailed":          "fabricSetupFailed is made by the library itself",
		"error without a conference": "conferenceID must be a non-empty string of at most 256 bytes, got an empty string",
		"feedback of six stars":      "feedback.overall must be an integer from 1 to 5",
		"on of another event":        "eventName must be one of preCallTestResults, defaultConfig",
		"wifi of nothing":            "getWifiStats must be a function, got a string",
		"muted after the end":        "the fabric has ended already",
		"event for somebody else":    "pc is no fabric of this conferenceID",
	}
	for what, said := range got.Answers {
		require.Equal(t, said.Msg, said.Message, what)
		switch {
		case strings.Contains(what, "Precall"): // the collector may have none
		case wrong[what] != "":
			require.Equal(t, "failure", said.Status, what)
			require.Contains(t, said.Msg, wrong[what])
		default:
			require.Equal(t, "success", said.Status, "%s: %s", what, said.Msg)
			for _, note := range notes[what] {
				require.Contains(t, said.Msg, note, what)
			}
			if notes[what] == nil {
				require.Empty(t, said.Msg, what)
			}
		}
	}
	require.Greater(t, len(got.Answers), 45)
	require.Empty(t, got.Nonsense.Thrown)
	require.Equal(t, 19*14, got.Nonsense.Count)
	for name, members := range got.Enumerations {
		for key, value := range members {
			if said, ok := formerValues[key]; ok {
				require.Equal(t, said, value, name)
			} else {
				require.Equal(t, key, value, name)
			}
		}
	}
	require.Len(t, got.Enumerations, 13)
	require.Equal(t, got.Enumerations["webRTCFunctions"], got.Enumerations["wrtcFuncNames"])
	require.Equal(t, got.Enumerations["qosAPIReturnStatus"], got.Enumerations["callStatsAPIReturnStatus"])
}

// checkHeard: every callback later, each outcome once.
func checkHeard(t *testing.T, got *spokenOutcome) {
	t.Helper()
	require.Empty(t, got.Synchronous, "callbacks that ran before their operation returned")
	firsts := func(all [][]string) (words []string) {
		for _, said := range all {
			words = append(words, said[0])
		}
		return words
	}
	for _, word := range firsts(got.Heard.Init) {
		require.Equal(t, "success", word, got.Heard.Init)
	}
	require.GreaterOrEqual(t, len(got.Heard.Init), 2, "the second initialize() is answered too")
	require.ElementsMatch(t, []string{"failure", "success", "success", "success"}, firsts(got.Heard.Fabric))
	require.ElementsMatch(t, []string{"success", "failure"}, firsts(got.Heard.Feedback))
	require.Equal(t, slices.Sorted(slices.Values([]string{got.Rooms.Room, got.Rooms.Room, got.Rooms.Other, got.Rooms.Longest})),
		slices.Sorted(slices.Values(got.Terminated)), "terminated is read once for each fabric")
}

// theConference waits until the collector has the ends of so many fabrics of a conference.
func theConference(t *testing.T, c *collector, room string, fabrics int) *kept {
	t.Helper()
	s := &scene{collector: c}
	found := &kept{}
	browser.Eventually(t, patience, "the collector has "+room, func() (bool, string) {
		rows := s.list(room)
		if len(rows) != 1 {
			return false, fmt.Sprint(rows)
		}
		*found = kept{}
		c.ask("/api/conference", url.Values{"app": {appID}, "id": {room}, "at": {strconv.FormatInt(rows[0].StartAt, 10)}}, found)
		ends := found.events("fabricTerminated")
		return len(ends) >= fabrics, fmt.Sprint(ends)
	})
	return found
}

// events returns the data of the events of that name.
func (k *kept) events(name string) []map[string]any {
	var all []map[string]any
	for _, one := range k.Timeline {
		if one.Kind == "event" && one.Name == name {
			all = append(all, one.Data)
		}
	}
	return all
}

// checkEvents: what was said stands on the time-line, once, with its data.
func checkEvents(t *testing.T, got *spokenOutcome, whole *kept) {
	t.Helper()
	for _, name := range []string{
		"fabricHold", "fabricResume", "audioUnmute", "videoPause", "videoResume", "screenShareStart", "screenShareStop",
		"fabricUsageEvent", "applicationErrorLog", "callUnAnswered",
	} {
		require.Equal(t, []map[string]any{{"said": name}}, whole.events(name))
	}
	require.Equal(t, []map[string]any{{"said": "audioMute"}, {"said": "after initialize()"}}, whole.events("audioMute"))
	require.Len(t, whole.events("dominantSpeaker"), 1)
	devices := whole.events("activeDeviceList")
	require.Len(t, devices, 2)
	require.Len(t, devices[0]["deviceList"], got.Devices)
	require.Equal(t, []any{map[string]any{"deviceId": "h", "kind": "audioinput", "label": "Headset", "groupId": "g"}}, devices[1]["deviceList"])
	require.Len(t, whole.events("fabricAdded"), 2)
	require.Len(t, whole.events("fabricSetup"), 2)
	for _, data := range whole.events("fabricSetup") {
		setup := object(data)
		require.Positive(t, setup.number("setupMs"))
		require.Less(t, setup.number("setupMs"), float64(patience.Milliseconds()))
		require.GreaterOrEqual(t, setup.number("setupMs"), setup.number("connectivityMs"))
		require.GreaterOrEqual(t, setup.number("gatheringMs"), 0.0)
	}
	require.Len(t, whole.events("iceRestart"), 2, "both ends see it, once")
	require.Empty(t, whole.events("fabricSetupFailed"))
	ends := whole.events("fabricTerminated")
	require.ElementsMatch(t, []any{"application", "closed"}, []any{ends[0]["reason"], ends[1]["reason"]})
	require.Equal(t, []map[string]any{{"said": "callDetails"}, {"callType": "inbound", "role": "agent", "queue": "q7"}}, whole.events("callDetails"))
	require.Equal(t, []map[string]any{{"name": "ringing"}, {"name": "answered", "afterMs": 7.0}}, whole.events("customEvent"))
	wifi := whole.events("wifiStats")
	require.NotEmpty(t, wifi)
	require.Equal(t, []any{50.0, -61.0, -90.0, "wlan0"}, []any{wifi[0]["signal"], wifi[0]["rssi"], wifi[0]["noise"], wifi[0]["interface"]})
}

// checkCustomStats: numbers of the application are series, in order of their own times, and drawn.
func checkCustomStats(t *testing.T, c *collector, b *browser.Browser, got *spokenOutcome, whole *kept) {
	t.Helper()
	require.Len(t, whole.CustomStats, 2)
	cpu, waiting := whole.CustomStats[0], whole.CustomStats[1]
	require.Equal(t, []string{"cpu", "waiting"}, []string{cpu.Name, waiting.Name})
	require.Equal(t, []float64{0.5}, cpu.Points.Value)
	require.Equal(t, []float64{3, 1}, waiting.Points.Value)
	require.InDelta(t, 2000, waiting.Points.T[1]-waiting.Points.T[0], 500)
	query := url.Values{"app": {appID}, "id": {got.Rooms.Room}, "at": {strconv.FormatInt(whole.Conference.StartAt, 10)}}
	p := openPage(t, b, "numbers", c.dashboard+"/conference?"+query.Encode())
	const card = "document.querySelector('[data-testid=custom-charts]')"
	p.Until(patience, card)
	// A chart is drawn when it is visible. What is drawn above it may push it away again.
	p.Until(patience, "("+card+".scrollIntoView(), "+card+".querySelectorAll('canvas').length === 2)")
	var drawn []string
	p.Get("[..."+card+".querySelectorAll('[data-testid=chart]')].map((chart) => chart.innerText.replace(/\\s+/g, ' ').trim())", &drawn)
	require.Equal(t, []string{"cpu Fabric 1: 0.5", "waiting Fabric 1: 2"}, drawn, "the means")
	p.CloseTab()
}

// checkErrors: nine functions, each with the name and the message of what was thrown.
func checkErrors(t *testing.T, got *spokenOutcome, whole *kept) {
	t.Helper()
	said := map[string]line{}
	var logs []string
	for _, one := range whole.Timeline {
		switch one.Kind {
		case "error":
			require.NotContains(t, said, one.Function, "reported twice")
			said[one.Function] = one
			require.Contains(t, one.LocalSDP, "m=video")
			require.Contains(t, one.RemoteSDP, "m=video")
		case "log":
			logs = append(logs, one.Text)
		}
	}
	require.Len(t, said, 8, "of nine functions the log is no error")
	nameAndMessage := func(function string) []string { return []string{said[function].Name, said[function].Message} }
	require.Equal(t, []string{got.Refusal.Name, got.Refusal.Message}, nameAndMessage("setRemoteDescription"))
	require.Equal(t, []string{"TypeError", "a type"}, nameAndMessage("createOffer"))
	require.Equal(t, []string{"Own", "own"}, nameAndMessage("createAnswer"))
	require.Equal(t, []string{"", "in words"}, nameAndMessage("addIceCandidate"))
	require.Equal(t, []string{"", ""}, nameAndMessage("signalingError"))
	require.Zero(t, said["getUserMedia"].Fabric, "of the conference")
	require.NotZero(t, said["createOffer"].Fabric)
	require.Equal(t, []string{"a line", `{"level":"warn"}`, "the last line"}, logs)
}

// checkUsers: who speaks, from where, and whose a stream is.
func checkUsers(t *testing.T, got *spokenOutcome, whole *kept) {
	t.Helper()
	require.Equal(t, 1, whole.Conference.ParticipantCount, "it stays one participant")
	details := whole.Conference.Participants[0].Details
	require.Equal(t, []string{"9.9 with a name that is too lo", "Ålesund"}, []string{details[semconv.ApplicationVersion], details[semconv.SiteID]})
	for _, name := range []string{
		"customerID", "tenantID", "productName", "meetingsName", "serverName", "pbxID", "pbxExtensionID", "fqExtensionID", "sessionID",
	} {
		require.Contains(t, slices.Collect(maps.Values(details)), "the "+name, "%v", details)
	}
	require.Equal(t, "carol", got.Track["userID"])
	require.Equal(t, "camera", got.Track["usageLabel"])
	require.Equal(t, true, got.Track["associatedVideoTag"], "the element itself")
	association := whole.events("associateMstWithUserID")
	require.Equal(t, []map[string]any{{"ssrc": got.SSRC, "userID": "carol", "usageLabel": "camera", "associatedVideoTag": "far-picture"}}, association)
	changes := whole.events("userIDChange")
	require.Len(t, changes, 2)
	require.Equal(t, map[string]any{"userIDType": "remote", "newUserID": "carol-2"}, changes[0])
	require.Equal(t, "local", changes[1]["userIDType"])
	require.Equal(t, "ada-2", changes[1]["newUserID"].(map[string]any)["aliasName"])
	for _, one := range whole.Timeline {
		if one.Feedback != nil {
			require.Equal(t, []any{"ada-2", 4, 5, "grand 😀"}, []any{one.Feedback.User, *one.Feedback.Overall, *one.Feedback.Audio, one.Feedback.Comment})
			require.Nil(t, one.Feedback.Video)
		}
	}
	require.Len(t, whole.Fabrics, 2)
	near, far := whole.Fabrics[0], whole.Fabrics[1]
	require.Equal(t, []string{"multiplex", "sendonly", "server", "grace"}, []string{near.Usage, near.Direction, near.RemoteEndpointType, near.RemoteUser})
	require.Equal(t, []string{"video", "sendrecv", "peer"}, []string{far.Usage, far.Direction, far.RemoteEndpointType})
}

// checkOtherRooms: the same PeerConnection in another conference, and a proxy in one whose
// name is as long as may be, which ended when somebody else logged in.
func checkOtherRooms(t *testing.T, c *collector, got *spokenOutcome) {
	t.Helper()
	again := theConference(t, c, got.Rooms.Other, 1)
	require.Len(t, again.Fabrics, 1)
	require.Equal(t, "data", again.Fabrics[0].Usage)
	require.Len(t, again.events("fabricSetup"), 1)
	require.Equal(t, []map[string]any{{"said": "by another"}}, again.events("audioMute"))
	left := theConference(t, c, got.Rooms.Longest, 1)
	require.Equal(t, "unbundled", left.Fabrics[0].Usage)
	require.Equal(t, []map[string]any{{"reason": "replaced"}}, left.events("fabricTerminated"))
	failed := left.events("fabricSetupFailed")
	require.Len(t, failed, 1)
	require.Equal(t, "noRemoteDescription", failed[0]["stage"])
	require.NotNil(t, failed[0]["failureMs"])
	raw, err := json.Marshal(left.Timeline)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "dave")
}
