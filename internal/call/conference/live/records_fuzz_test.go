package live_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// oddInt draws whole numbers of which few are plausible.
func oddInt(t *rapid.T, name string, usual ...int64) int64 {
	odd := []int64{0, -1, 1, math.MinInt64, math.MaxInt64, math.MaxInt32, 1 << 53, 1024, 1023}
	return rapid.OneOf(rapid.SampledFrom(usual), rapid.SampledFrom(usual), rapid.SampledFrom(odd), rapid.Int64()).Draw(t, name)
}

// oddText draws what a client may send for a name.
func oddText(t *rapid.T, name string, usual ...string) string {
	odd := []string{"", "\xff\xfe", "\x00", strings.Repeat("ä", 700), `{"userName":1}`}
	return rapid.OneOf(rapid.SampledFrom(usual), rapid.SampledFrom(usual), rapid.SampledFrom(odd), rapid.StringN(0, 8, 16)).Draw(t, name)
}

var oddJSON = []string{
	``, `{}`, `null`, `[]`, `{`, `{"setupMs":1e999}`, `{"setupMs":-1,"ssrc":"x"}`, `{"userID":{"userName":"u","aliasName":7}}`,
	`{"ssrc":99999999999999999999,"userID":"x","usageLabel":"y"}`, `{"durationMs":86400001}`, `{"rssi":-60,"signal":"x"}`,
	`{"newUserID":{"userName":"x","aliasName":"y"},"userIDType":"local"}`, `{"newUserID":[],"userIDType":"remote"}`,
	`{"deviceList":[{"deviceId":7}]}`, `{"deviceList":{}}`, `{"reason":"failed","stage":"dtls","failureMs":12}`, `{"alreadyConnected":"yes"}`,
}

// oddEvent draws a record of any kind with any fault. The attributes of a session and of a
// fabric are constant, as the receiver ensures.
func oddEvent(t *rapid.T) event.Event {
	session := oddText(t, "session", "a", "b", "c")
	e := event.Event{
		AppID: "app", ConferenceID: oddText(t, "conference", "c", "c", "d"), Session: session, UserID: session, Alias: "alias of " + session,
		Seq: uint64(oddInt(t, "seq", 1, 2, 3, 4, 5)), Index: int(oddInt(t, "index", 0, 1, 2)),
		AtMs: oddInt(t, "at", conferencetest.Base, conferencetest.Base+1, conferencetest.Base+10_000, conferencetest.Base+30_001, conferencetest.Base+60_000, conferencetest.Base+90_000),
		Kind: event.Kind(rapid.IntRange(0, 8).Draw(t, "kind")), Fabric: int(oddInt(t, "fabric", 0, 1, 1, 2)),
	}
	e.ConferenceAtMs = e.AtMs
	if e.Fabric == 0 {
		e.ConferenceAtMs = oddInt(t, "place", conferencetest.Base, conferencetest.Base+20_000, conferencetest.Base+100_000)
	}
	e.RemoteUser, e.Usage, e.RemoteType, e.Direction = fmt.Sprint("user", e.Fabric), "multiplex", "peer", "sendrecv"
	switch e.Kind {
	case event.KindStats:
		if rapid.Bool().Draw(t, "rows") {
			e.Measured = oddStats(t)
		}
	case event.KindEvent:
		e.Name = oddText(t, "name", conferencetest.EventNames...)
		e.Data = event.ParseData(e.Name, []byte(rapid.SampledFrom(oddJSON).Draw(t, "data")))
	case event.KindError:
		e.Function = oddText(t, "function", "getUserMedia", "createOffer")
	case event.KindFeedback:
		if rapid.Bool().Draw(t, "ratings") {
			overall := int(oddInt(t, "overall", 1, 5))
			e.Feedback = &event.Feedback{Overall: &overall, Comment: oddText(t, "comment", "bad")}
		}
	case event.KindSkip:
		e.Lost = event.Lost{Stats: rapid.IntRange(0, 1<<30).Draw(t, "stats"), Events: rapid.IntRange(0, 1<<30).Draw(t, "events")}
	case event.KindLog:
	}
	return e
}

// oddStats draws a measurement as the processor reads it: mostly without values out of range.
func oddStats(t *rapid.T) *event.Measurement {
	m := conferencetest.Wild.Draw(t, "wild")
	m.StatsType = oddText(t, "type", "inbound-rtp", "outbound-rtp", "candidate-pair")
	m.MediaType = oddText(t, "media", "audio", "video", "")
	m.SSRC = oddInt(t, "ssrc", 1, 2)
	m.Codec = oddText(t, "codec", "opus", "VP8")
	m.Score.Label = oddText(t, "label", "good", "bad")
	m.Limitation = oddText(t, "limitation", "none", "cpu", "bandwidth")
	m.RID = oddText(t, "rid", "", "h")
	if rapid.IntRange(0, 3).Draw(t, "unread") > 0 {
		m.DropOutOfRange()
	}
	return m
}

// oddRecords checks for arbitrary records: no panic, summaries that are JSON, bounded state, and
// the same summary in any order.
func oddRecords(t *rapid.T) {
	const most, perConference = 3, 40
	set := live.NewSet(live.Config{MaxConferences: most, KeepEndedMs: 10_000, Labels: quality.DefaultBounds()})
	type id struct {
		session string
		seq     uint64
		index   int
	}
	used := map[id]bool{}
	var fold []event.Event
	now := conferencetest.Base
	for range rapid.IntRange(1, perConference).Draw(t, "records") {
		e := oddEvent(t)
		if own := (id{e.Session, e.Seq, e.Index}); used[own] {
			continue
		} else {
			used[own] = true
		}
		if set.Apply(&e, now) == live.Applied && e.ConferenceID == "c" {
			fold = append(fold, e)
		}
		require.LessOrEqual(t, set.Len(), most)
		require.LessOrEqual(t, set.Live(), set.Len())
		now += rapid.SampledFrom([]int64{0, 0, 1000, 31_000}).Draw(t, "advance")
		soundSummaries(t, tick(set, now))
	}
	soundSummaries(t, tick(set, now+200_000))
	require.Zero(t, set.Live(), "all have ended")
	one := conferencetest.Fold(fold, quality.DefaultBounds())
	soundSummaries(t, []conference.Summary{one})
	other := rapid.Permutation(fold).Draw(t, "order")
	require.JSONEq(t, conferencetest.JSON(t, one), conferencetest.JSON(t, conferencetest.Fold(other, quality.DefaultBounds())))
}

func soundSummaries(t *rapid.T, summaries []conference.Summary) {
	for _, s := range summaries {
		conferencetest.JSON(t, s)
		require.Contains(t, conference.Outcomes, string(s.Outcome))
		require.True(t, s.DurationMs >= 0 && s.Truncated >= 0 && s.OutOfRange >= 0 && len(s.Issues) <= 100)
		for _, p := range s.Participants {
			require.GreaterOrEqual(t, p.DurationMs, int64(0))
			for _, score := range []*float64{p.MOS, p.MOSIn, p.MOSOut, s.MOS} {
				require.True(t, score == nil || *score >= 1 && *score <= 5)
			}
			for _, f := range p.Fabrics {
				for i := range f.Streams {
					soundStream(t, &f.Streams[i])
				}
			}
		}
	}
}

func soundStream(t *rapid.T, s *conference.Stream) {
	for _, share := range []*float64{s.LossFraction, s.ConcealedShare} {
		require.True(t, share == nil || *share >= 0 && *share <= 1)
	}
	for _, d := range []*conference.Distribution{s.BitrateKbps, s.JitterMs, s.RTTMs, s.FPS, s.MOS} {
		require.True(t, d == nil || d.Min <= d.P50 && d.P50 <= d.Max && d.Min >= 0, "%+v", d)
	}
	require.LessOrEqual(t, len(s.Labels), 64)
}

// TestOddRecords: arbitrary records give valid summaries.
//
// spec: CONF-02, CONF-03
func TestOddRecords(t *testing.T) { rapid.Check(t, oddRecords) }

// FuzzRecords is TestOddRecords guided by code coverage.
func FuzzRecords(f *testing.F) { rapidfuzz.Run(f, oddRecords) }
