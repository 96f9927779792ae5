package readapi

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// got is an answer of /api/conference as a client reads it.
type got struct {
	Damaged    bool
	At         int64
	Conference conferenceRow
	Summary    map[string]any
	SoFar      *preliminary
	Fabrics    []fabric
	Timeline   []map[string]any
	Streams    []map[string]any
	Measures   []measure
	LeftOut    leftOut

	CustomStats []map[string]any
}

func ask(t *testing.T, base string, c *call) got {
	t.Helper()
	query := url.Values{"app": {c.AppID}, "id": {c.ConferenceID}, "at": {strconv.FormatInt(c.Start.UnixMilli(), 10)}}
	var g got
	getJSON(t, base+"/api/conference?"+query.Encode(), &g)
	return g
}

func seconds(n float64) time.Time { return t0.Add(time.Duration(n * float64(time.Second))) }

// twoParty is a small call with everything that can stand on a time-line.
func twoParty(m *memory) *call {
	c := m.newCall("stand up/1", t0)
	c.join(alice, "alice", "alice", map[string]string{semconv.SiteID: "hq"})
	c.join(bob, "Robert Roe", "b-17", nil)
	c.record(alice, 1, seconds(0), semconv.EventEvent, map[string]any{
		semconv.EventName: "fabricAdded", semconv.EventData: `{"alreadyConnected":false}`, semconv.FabricUsage: "multiplex",
		semconv.RemoteUserID: "Robert Roe", semconv.RemoteUserAlias: "b-17",
	})
	c.event(alice, 1, seconds(1), "associateMstWithUserID", `{"ssrc":7,"userID":{"userName":"Carol C","aliasName":"c-9"},"usageLabel":"slides"}`)
	for i := range 3 {
		c.stats(alice, seconds(float64(5+5*i)), "inbound-rtp", "video", map[string]any{
			"ssrc": int64(7), "codec": "VP8", "bytes": int64(625_000), "packets": int64(95), "packetsLost": int64(5),
			"jitterMs": 4.25, "fps": 29.97, semconv.QualityMOS: 4.1234567, semconv.QualityLabel: "good",
		})
	}
	c.stats(alice, seconds(15), "inbound-rtp", "audio", map[string]any{"ssrc": int64(8), "packets": int64(0), semconv.QualityReason: "noPackets"})
	c.stats(alice, seconds(15), "outbound-rtp", "audio", map[string]any{
		"ssrc": int64(9), "packets": int64(98), "remotePacketsLost": int64(2), "rttMs": 40.0, "remoteJitterMs": 3.0, "jitterMs": 99.0,
	})
	c.stats(alice, seconds(15), "candidate-pair", "", map[string]any{"bytesSent": int64(625_000), "availableOutgoingBps": 2_500_000.0, "rttMs": 38.5})
	c.stats(bob, seconds(15), "", "", nil) // a frame without rows
	c.record(alice, 1, seconds(16), semconv.EventError, map[string]any{
		semconv.ErrorFunction: "createOffer", semconv.ErrorName: "OperationError", semconv.ErrorMessage: "<b>no</b>", semconv.ErrorLocalSDP: "v=0",
	})
	c.record(bob, 0, seconds(17), semconv.EventFeedback, map[string]any{
		semconv.FeedbackUserID: "Robert Roe", semconv.FeedbackUserAlias: "b-17", semconv.FeedbackOverall: int64(4), semconv.FeedbackComment: "fine",
	})
	c.record(bob, 1, seconds(18), semconv.EventLog, map[string]any{semconv.LogText: "hello", semconv.TimeCorrected: true})
	c.record(bob, 1, seconds(19), semconv.EventSkip, map[string]any{semconv.SkipFrom: int64(3), semconv.SkipStats: int64(2), semconv.SkipEvents: int64(1)})
	c.event(bob, 1, seconds(20), "customEvent", `not JSON`)
	c.record(bob, 1, seconds(21), "qos.later", nil) // of a newer collector
	return c
}

func stream1(t *testing.T, g got, ssrc float64) map[string]any {
	t.Helper()
	for _, s := range g.Streams {
		if s["ssrc"] == ssrc {
			return s
		}
	}
	require.Failf(t, "no such stream", "%v", ssrc)
	return nil
}

// spec: DASH-02
func TestConferenceStreams(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	g := ask(t, start(t, m, nil), c)
	require.Len(t, g.Streams, 4)

	video := stream1(t, g, 7)
	require.Equal(t, []any{float64(seconds(5).UnixMilli()), float64(seconds(10).UnixMilli()), float64(seconds(15).UnixMilli())}, video["t"])
	require.Equal(t, []any{1000.0, 1000.0, 1000.0}, video["bitrateKbps"], "625,000 bytes in 5 s")
	require.Equal(t, []any{0.05, 0.05, 0.05}, video["lossFraction"], "5 of 95 + 5")
	require.Equal(t, []any{4.1235, 4.1235, 4.1235}, video["mos"], "four decimals")
	require.Equal(t, []any{4.0, 4.0, 4.0}, video["labelRank"])
	require.Equal(t, "good", video["label"])
	require.Equal(t, "VP8", video["codec"])
	require.Equal(t, "c-9", video["user"], "as associated, by alias")
	require.Equal(t, "slides", video["usageLabel"])
	require.NotContains(t, video, "rttMs", "never measured")

	received := stream1(t, g, 8)
	require.Equal(t, "b-17", received["user"], "the fabric's remote user")
	require.Equal(t, "noPackets", received["noScore"])
	require.NotContains(t, received, "lossFraction", "no packets expected, no loss")

	sent := stream1(t, g, 9)
	require.NotContains(t, sent, "user")
	require.Equal(t, []any{0.0204}, sent["lossFraction"], "the remote end's 2 of 98")
	require.Equal(t, []any{3.0}, sent["jitterMs"], "the remote end's")

	pair := stream1(t, g, 0)
	require.Equal(t, "candidate-pair", pair["statsType"])
	require.Equal(t, []any{1000.0}, pair["sentKbps"])
	require.Equal(t, []any{2500.0}, pair["availableOutgoingKbps"])
	require.NotContains(t, pair, "lossFraction")
}

// spec: DASH-02, CONF-04
func TestConferenceTimeline(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	g := ask(t, start(t, m, nil), c)
	kinds := make([]any, 0, len(g.Timeline))
	for _, e := range g.Timeline {
		kinds = append(kinds, e["kind"])
	}
	require.Equal(t, []any{"event", "event", "error", "feedback", "log", "skip", "event"}, kinds, "in order of time, unknown kinds left out")
	require.Equal(t, map[string]any{"alreadyConnected": false}, g.Timeline[0]["data"])
	require.Equal(t, "createOffer", g.Timeline[2]["function"])
	require.Equal(t, "<b>no</b>", g.Timeline[2]["message"], "the page sets it as text")
	require.Equal(t, map[string]any{"user": "b-17", "overall": 4.0, "audio": nil, "video": nil, "screen": nil, "comment": "fine"}, g.Timeline[3]["feedback"])
	require.Equal(t, true, g.Timeline[4]["timeCorrected"])
	require.Equal(t, map[string]any{"stats": 2.0, "events": 1.0}, g.Timeline[5]["skip"])
	require.Equal(t, "not JSON", g.Timeline[6]["data"], "shown as it came")
	require.Len(t, g.Fabrics, 2)
	require.Equal(t, fabric{
		Session: alice, Fabric: 1, Usage: "multiplex", RemoteUser: "b-17", FirstAt: t0.UnixMilli(), LastAt: seconds(16).UnixMilli(),
	}, g.Fabrics[0])
	require.Equal(t, map[string]string{semconv.SiteID: "hq"}, g.Conference.Participants[0].Details)
	require.Equal(t, leftOut{}, g.LeftOut)
	require.Nil(t, g.Summary)
}

const namedSummary = `{"appID":"demo","startMs":1763702160000,"participants":[{"session":"s","userID":"Robert Roe","alias":"b-17",
"userIDs":["Robert Roe"],"fabrics":[{"remoteUserID":"Carol C","remoteUserIDs":["Carol C"],"remoteAlias":"c-9","streams":[{"ssrc":4294967295,"userID":"Carol C"}]}]}]}`

// TestRealNames: nothing but show_user_names lets a real name out, wherever it stands.
func TestRealNames(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	c.summarise("success", nil, "", namedSummary)
	query := "/api/conference?" + url.Values{"app": {"demo"}, "id": {"stand up/1"}, "at": {strconv.FormatInt(t0.UnixMilli(), 10)}}.Encode()

	base := start(t, m, nil)
	for _, path := range []string{query, "/api/conferences"} {
		_, body, _ := get(t, base+path)
		require.Contains(t, body, "b-17")
		require.NotContains(t, body, "Robert Roe", path)
		require.NotContains(t, body, "Carol C", path)
	}
	g := ask(t, base, c)
	require.Equal(t, 1763702160000.0, g.Summary["startMs"], "the rest passes through")

	base = start(t, m, func(s *Settings) { s.ShowUserNames = true })
	g = ask(t, base, c)
	require.Equal(t, "Robert Roe", g.Conference.Participants[1].UserName)
	require.Empty(t, g.Conference.Participants[0].UserName, "alice is her own alias")
	require.Equal(t, "Robert Roe", g.Fabrics[0].RemoteUserName)
	_, body, _ := get(t, base+query)
	require.Contains(t, body, `"remoteUserID":"Carol C"`)
	require.Contains(t, body, `"userName":"Carol C"`)
}

// TestLongCall: a call of any length comes as at most maxPoints points, from its first to
// its last moment, and their means are those of the measurements.
func TestLongCall(t *testing.T) {
	for _, n := range []int{1, maxPoints - 1, maxPoints, maxPoints + 1, 2*maxPoints + 1, 8640} {
		var s series
		sum := 0.0
		for i := range n {
			p := point{}
			for c := range p {
				p[c] = math.NaN()
			}
			p[colRTT] = float64(i % 7)
			if i >= n/2 {
				p[colFPS] = 30
			}
			sum += p[colRTT]
			s.add(int64(i+1)*5000, p)
		}
		require.LessOrEqual(t, len(s.times), maxPoints)
		require.GreaterOrEqual(t, len(s.times)*s.step, n)
		require.Equal(t, int64(n)*5000, s.times[len(s.times)-1], "the last moment is there")
		full, got := len(s.times), 0.0
		for i, v := range s.cols[colRTT] {
			weight := s.step
			if i == full-1 {
				weight = s.held
			}
			got += v * float64(weight)
		}
		require.InDelta(t, sum, got, 1e-6*float64(n), "%d records", n)
		require.Nil(t, s.cols[colMOS], "never had a value")
		require.Len(t, s.cols[colFPS], full)
		require.Equal(t, 30.0, s.cols[colFPS][full-1])
		require.True(t, json.Valid(append(s.appendJSON([]byte("{")), '}')))
	}
}

// TestLimits: a chatty application's logs never push an error out, and what is left out is
// counted.
func TestLimits(t *testing.T) {
	m := &memory{}
	c := m.newCall("chatty", t0)
	c.join(alice, "alice", "alice", nil)
	for i := range maxEntries["log"] + 3 {
		c.record(alice, 1, seconds(float64(i)/100), semconv.EventLog, map[string]any{semconv.LogText: "x"})
	}
	for i := range maxStreams + 5 {
		c.stats(alice, seconds(20), "inbound-rtp", "audio", map[string]any{"ssrc": int64(i + 1), "packets": int64(1)})
	}
	c.record(alice, 1, seconds(30), semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	g := ask(t, start(t, m, nil), c)
	require.Equal(t, leftOut{Timeline: 3, Streams: 5}, g.LeftOut)
	require.Equal(t, "error", g.Timeline[len(g.Timeline)-1]["kind"])
	require.Len(t, g.Streams, maxStreams)
}
