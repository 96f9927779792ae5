package narrative

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
)

var update = flag.Bool("update", false, "write the golden files and fail")

var t0 = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC).UnixMilli()

const (
	alice = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"
	bob   = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e40"
)

// summary reads a document as the store has it, with the start of the test in place of T0.
func summary(t *testing.T, document string) *conference.Summary {
	t.Helper()
	document = regexp.MustCompile(`T0\+?(\d*)`).ReplaceAllStringFunc(document, func(at string) string {
		var seconds int64
		_, _ = fmt.Sscanf(at, "T0+%d", &seconds)
		return strconv.FormatInt(t0+seconds*1000, 10)
	})
	var s conference.Summary
	require.NoError(t, json.Unmarshal([]byte(document), &s))
	return &s
}

const ended = `{"outcome":"partiallyFailed","mos":3.456,"label":"fair","worstParticipant":{"session":"` + bob + `","mos":2.1},
"likelyCause":{"cause":"pathOrTurn","session":"` + alice + `","peer":"` + bob + `","confidence":0.82,
 "evidence":[{"metric":"loss_fraction","session":"` + bob + `","mediaType":"audio","value":0.124,"comparedWith":0.05,"text":"12.4 % of packets were lost"},{"metric":"x","session":"","text":"relayed"}],
 "others":[{"cause":"mediaServer","session":"","confidence":0.07}]},
"participants":[{"session":"` + alice + `","startMs":T0,"endMs":T0+750,"endReason":"application","mos":4.2,"label":"good",
 "fabrics":[{"fabric":1,"remoteAlias":"bob","state":"connected","setupMs":340.4,"localCandidateType":"host","remoteCandidateType":"relay","relayProtocol":"udp","networkType":"wifi","iceDisruptions":2,"iceDisruptionMs":4200,"iceRestarts":1},
  {"fabric":2,"remoteAlias":"sfu","state":"neverConnected","failureStage":"gathering"}],
 "feedback":[{"overall":2,"comment":"I could\nnot hear bob"},{"overall":null}]},
 {"session":"` + bob + `","startMs":T0+5,"endMs":T0+740,"endReason":"silence","mos":null}],
"feedback":{"count":2,"overall":2},
"issueCounts":{"highPacketLoss":1,"lowFrameRate":2},
"issues":[{"kind":"highPacketLoss","session":"` + bob + `","fabric":1,"mediaType":"audio","direction":"inbound","metric":"loss_fraction","value":0.124,"threshold":0.05,"confidence":"high","count":2,"sinceMs":T0+60,"totalMs":34000},
 {"kind":"laterKind","session":"x","metric":"widgets","value":3,"confidence":"low","open":true}],
"lostMeasurements":1,"lostEvents":0,"truncated":3}`

func endedCall(t *testing.T) *Conference {
	t.Helper()
	return &Conference{
		AppID: "demo", ConferenceID: "stand up/1", URL: "https://dash.example.org/conference?app=demo&id=stand+up%2F1&at=1", State: StateEnded,
		StartMs: t0, EndMs: t0 + 750_000, Summary: summary(t, ended),
		Participants: []Participant{
			{Session: alice, Name: "alice", Browser: "firefox 144 on linux", Site: "h\x1bq", Version: "7.1"},
			{Session: bob, Name: "<b>ボブ</b> محمد\u202e"},
		},
		Errors: []Error{
			{AtMs: t0 + 3000, Session: alice, Function: "createOffer", Name: "OperationError", Message: "no\r\nOutcome: Success"},
			{AtMs: t0 + 4000, Session: alice, Function: "createOffer", Name: "OperationError", Message: "no\r\nOutcome: Success"},
			{AtMs: t0 + 5000, Session: bob, Function: "getUserMedia"},
		},
		LeftOut: 4, Unattached: 2,
	}
}

// spec: DASH-02
func TestText(t *testing.T) {
	f := func(name string, c *Conference) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txt")
			text := Text(c)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				t.Fatal("the golden file is written; run again without -update")
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), text)
		})
	}
	f("ended", endedCall(t))
	f("live", &Conference{
		AppID: "demo", ConferenceID: "c", State: StateLive, StartMs: t0, EndMs: t0 + 61_000, Participants: []Participant{{Session: alice}},
		Summary: summary(t, `{"mos":null,"likelyCause":{"cause":"none"},"participants":[{"session":"`+alice+`","startMs":T0,"endMs":T0+61,"fabrics":[{"fabric":1}]}],
"issues":[{"kind":"silentMicrophone","session":"`+alice+`","metric":"audio_level","value":0,"threshold":0.0001,"sinceMs":T0+9,"totalMs":1000,"open":true}]}`),
	})
	f("pending", &Conference{
		AppID: "demo", ConferenceID: "c", State: StatePending, StartMs: t0, EndMs: t0 + 86_400_000*2, Missing: "It has too many records.",
		Participants: []Participant{{Session: alice, Name: "alice"}},
	})
}

func TestTextIsBounded(t *testing.T) {
	c := &Conference{AppID: strings.Repeat("a", 5000), State: StateEnded, Summary: &conference.Summary{}}
	for i := range 500 {
		session := strconv.Itoa(i)
		c.Participants = append(c.Participants, Participant{Session: session, Name: strings.Repeat("名", 400)})
		c.Summary.Participants = append(c.Summary.Participants, conference.Participant{Session: session, Fabrics: make([]conference.Fabric, 30)})
		c.Summary.Issues = append(c.Summary.Issues, conference.Issue{Kind: "highJitter"})
		c.Errors = append(c.Errors, Error{Session: session})
	}
	text := Text(c)
	require.Less(t, strings.Count(text, "\n"), 700)
	require.NotContains(t, text, strings.Repeat("名", maxRunes+1))
	for _, more := range []string{"- and 450 more participants", "  - and 20 more connections", "- and 480 more issues", "- and 480 more kinds of errors"} {
		require.Contains(t, text, more)
	}
}

// TestServerIsAnEndOfAPath: of a path to the media server, neither the participant nor the server is named alone.
//
// spec: CONF-06
func TestServerIsAnEndOfAPath(t *testing.T) {
	f := func(want, found string) {
		t.Helper()
		text := Text(&Conference{
			State: StateEnded, Participants: []Participant{{Session: alice, Name: "alice"}},
			Summary: summary(t, `{"likelyCause":`+found+`,"participants":[{"session":"`+alice+`"}]}`),
		})
		require.Contains(t, text, "Likely cause: "+want+" (65 % sure)\n")
	}
	f("The network between alice and the media server, or the server", `{"cause":"pathOrTurn","session":"`+alice+`","server":true,"confidence":0.65}`)
	f("The network, or a relay, from alice to the others", `{"cause":"pathOrTurn","session":"`+alice+`","confidence":0.65}`)
}

// TestWordsAreComplete holds the words against the closed lists of outcomes, causes and kinds.
func TestWordsAreComplete(t *testing.T) {
	for _, outcome := range conference.Outcomes {
		require.Contains(t, outcomes, outcome)
	}
	for _, c := range cause.Causes {
		require.Contains(t, causes, string(c))
	}
	for kind := range titles {
		require.Contains(t, detect.Kinds, kind)
	}
}

func FuzzText(f *testing.F) {
	f.Add("alice", "a\nb", "highJitter", 1.5)
	f.Fuzz(func(t *testing.T, name, message, kind string, value float64) {
		c := &Conference{
			ConferenceID: name, State: kind, Participants: []Participant{{Session: "s", Name: name, Site: message}},
			Errors:  []Error{{Session: "s", Function: kind, Message: message}},
			Summary: &conference.Summary{Issues: []conference.Issue{{Kind: kind, Metric: message, Value: value}}, Label: name, MOS: &value},
		}
		plain := Text(&Conference{
			State: "x", Participants: []Participant{{Session: "s"}}, Errors: []Error{{Session: "s"}},
			Summary: &conference.Summary{Issues: []conference.Issue{{}}, MOS: new(float64)},
		})
		require.Equal(t, strings.Count(plain, "\n"), strings.Count(Text(c), "\n"), "no value makes a line")
	})
}
