package e2e

import (
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
)

// detail is what the dashboard's page of a conference draws.
type detail struct {
	Conference row
	Summary    conference.Summary
	Timeline   []struct {
		At       int64
		Session  string
		Kind     string
		Name     string
		Function string
		Message  string
		Feedback *struct {
			User    string
			Overall int
			Comment string
		}
	}
	Streams []struct {
		Session     string
		StatsType   string
		MediaType   string
		BitrateKbps []*float64
	}
}

func (s *scene) detail(t *testing.T, one *call) *detail {
	t.Helper()
	address, err := url.Parse(one.url)
	require.NoError(t, err)
	d := &detail{}
	s.ask("/api/conference", address.Query(), d)
	return d
}

// checkConference looks at one conference as a person would.
//
// spec: CONF-03, CONF-04, CONF-05, FAB-05, FAB-06, STAT-04, QUAL-01
func (s *scene) checkConference(t *testing.T, one *call) {
	t.Helper()
	d := s.detail(t, one)
	require.Equal(t, one.room, d.Conference.ID)
	require.Equal(t, "success", d.Conference.Outcome)
	require.Equal(t, []string{"ada", "grace"}, users(d.Conference))
	checkTimeline(t, d)
	sum := d.Summary
	require.Equal(t, 1, sum.Errors)
	require.Equal(t, map[string]int{reportedFunction: 1}, sum.ErrorsByFunction)
	require.Equal(t, 1, sum.Feedback.Count)
	require.Zero(t, sum.LostMeasurements)
	require.Equal(t, nameless(t, cause.Replay(t, s.sink.Of(one.room))), nameless(t, sum), "what follows from the records that the receiver emitted")
	require.Len(t, sum.Participants, 2)
	for _, p := range sum.Participants {
		checkParticipant(t, one, p)
	}
	if !one.lossy {
		require.NotContains(t, kinds(sum.Issues), conference.IssueHighPacketLoss)
	}
}

// nameless is a document without the names that the dashboard does not show.
func nameless(t *testing.T, document any) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(jsonOf(document)), &v))
	return withoutNames(v)
}

func withoutNames(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNames(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(name string, _ any) bool { return strings.Contains(strings.ToLower(name), "userid") })
		for name := range v {
			v[name] = withoutNames(v[name])
		}
	}
	return v
}

func users(r row) []string {
	var names []string
	for _, p := range r.Participants {
		names = append(names, p.User)
	}
	slices.Sort(names)
	return names
}

func kinds(issues []conference.Issue) []string {
	var names []string
	for _, issue := range issues {
		names = append(names, issue.Kind)
	}
	return names
}

// session returns the session of a user.
func (d *detail) session(user string) string {
	for _, p := range d.Conference.Participants {
		if p.User == user {
			return p.Session
		}
	}
	return ""
}

// events returns a session's part of the time-line, in order, without what depends on the
// browser.
func (d *detail) events(session string) []string {
	var names []string
	for _, e := range d.Timeline {
		switch {
		case e.Session != session || e.Name == "streamAdded" || e.Name == "selectedCandidatePairChange":
		case e.Kind == "event":
			names = append(names, e.Name)
		default:
			names = append(names, e.Kind)
		}
	}
	return names
}

func checkTimeline(t *testing.T, d *detail) {
	t.Helper()
	ada := d.session("ada")
	require.Equal(t, []string{
		"fabricAdded", "remoteDescriptionSet", "fabricSetup", "audioMute", "audioUnmute", "error", "feedback", "fabricTerminated",
	}, d.events(ada))
	for _, e := range d.Timeline {
		switch e.Kind {
		case "error":
			require.Equal(t, reportedFunction, e.Function)
			require.Equal(t, reportedMessage, e.Message)
		case "feedback":
			require.Equal(t, "ada", e.Feedback.User)
			require.Equal(t, rating, e.Feedback.Overall)
			require.Equal(t, comment, e.Feedback.Comment)
		}
	}
}

func checkParticipant(t *testing.T, one *call, p conference.Participant) {
	t.Helper()
	require.True(t, p.Connected, p.Alias)
	require.Len(t, p.Fabrics, 1)
	f := p.Fabrics[0]
	require.Equal(t, conference.StateConnected, f.State)
	require.NotNil(t, f.SetupMs)
	require.Greater(t, *f.SetupMs, 0.0)
	require.Less(t, *f.SetupMs, float64(patience.Milliseconds()))
	if one.lossy {
		require.Equal(t, "relay", f.LocalCandidateType)
	}
	if p.Alias == "ada" {
		require.Equal(t, "application", p.EndReason)
		require.Len(t, p.Mutes, 1)
		require.Greater(t, p.Mutes[0].EndMs, p.Mutes[0].StartMs)
	} else {
		require.Contains(t, []string{"application", "pagehide", "closed", conference.EndSilence}, p.EndReason)
	}
	require.Len(t, f.Streams, 4, "sound and picture, both ways")
	for _, stream := range f.Streams {
		checkStream(t, one, p.Alias, stream)
	}
}

func checkStream(t *testing.T, one *call, user string, stream conference.Stream) {
	t.Helper()
	name := strings.Join([]string{user, stream.StatsType, stream.MediaType}, " ")
	require.Contains(t, map[string]string{"audio": "opus", "video": "VP8"}[stream.MediaType], stream.Codec, name)
	require.NotNil(t, stream.BitrateKbps, name)
	require.Greater(t, stream.BitrateKbps.P50, 5.0, name)
	require.GreaterOrEqual(t, stream.Intervals, measurements-2, name)
	require.NotNil(t, stream.LossFraction, name)
	require.NotNil(t, stream.MOS, name)
	t.Logf("%s: loss %.3f, MOS mean %.2f, median %.2f, %.0f kbit/s", name, *stream.LossFraction, stream.MOS.Mean, stream.MOS.P50, stream.BitrateKbps.Mean)
	switch {
	case one.lossy && stream.StatsType == "inbound-rtp":
		require.InDelta(t, lossFraction, *stream.LossFraction, lossSpread(stream), name)
	case one.lossy: // what the other end says arrives seconds later; a good call has less than 0.01
		require.Greater(t, *stream.LossFraction, 0.01, name)
		require.Less(t, *stream.LossFraction, 0.15, name)
	default:
		require.Less(t, *stream.LossFraction, 0.01, name)
	}
}

// lossSpread is how far the loss of one stream may lie from the relay's: five standard
// deviations of that many throws, for a small picture has few packets.
func lossSpread(stream conference.Stream) float64 {
	return 5 * math.Sqrt(lossFraction*(1-lossFraction)/float64(stream.Packets+stream.PacketsLost))
}

// checkLossIsSeen compares a lossy call with the good one of the same browser.
//
// spec: QUAL-01, CONF-03
func (s *scene) checkLossIsSeen(t *testing.T) {
	var compared int
	for _, one := range s.calls {
		if !one.lossy {
			continue
		}
		bad := s.detail(t, one).Summary
		var seen []string
		for _, issue := range bad.Issues {
			if issue.Kind == conference.IssueHighPacketLoss {
				require.InDelta(t, lossFraction, issue.Value, 0.08)
				seen = append(seen, issue.MediaType+" "+issue.Direction)
			}
		}
		require.Contains(t, seen, "audio inbound", one.name)
		require.Contains(t, seen, "video inbound", one.name)
		good, ok := s.goodTwin(one)
		if !ok {
			continue
		}
		compared++
		was := s.detail(t, good).Summary
		t.Logf("%s: score %.2f (%s), sound %.2f; without loss %.2f (%s), %.2f",
			one.name, *bad.MOS, bad.Label, audio(bad), *was.MOS, was.Label, audio(was))
	}
	require.NotZero(t, compared)
}

func (s *scene) goodTwin(lossy *call) (*call, bool) {
	for _, one := range s.calls {
		if !one.lossy && one.kind == lossy.kind {
			return one, true
		}
	}
	return nil, false
}

// audio is the mean score of the sound that participants heard.
func audio(sum conference.Summary) float64 {
	var total float64
	for _, p := range sum.Participants {
		total += *p.AudioMOSIn
	}
	return total / float64(len(sum.Participants))
}

// checkUsedAgain makes a second, short call under the first one's conferenceID: everybody
// says goodbye, so its summary comes at once.
//
// spec: CONF-01
func (s *scene) checkUsedAgain(t *testing.T, b *browser.Browser) {
	t.Helper()
	first := s.calls[0]
	again := &call{name: "again", kind: first.kind, room: first.room, brief: true}
	ada, grace := s.join(t, b, again, "ada"), s.join(t, b, again, "grace")
	ada.mediaFlows()
	grace.mediaFlows()
	ada.Until(patience, "demo.state.statsCount >= 2")
	ada.Get("demo.state.stats.conferenceURL", &again.url)
	s.hangUp(again, ada)
	grace.Until(patience, "demo.state.connectionState === 'waiting'")
	browser.Eventually(t, patience, "the second conference has a summary", func() (bool, string) {
		rows := s.list(first.room)
		return len(rows) == 2 && rows[0].State == "ended", "" // newest first
	})
	rows := s.list(first.room)
	require.GreaterOrEqual(t, rows[0].StartAt-rows[1].EndAt, int64(30_000))
	require.Equal(t, rows[0].StartAt, s.detail(t, again).Conference.StartAt)
	require.Equal(t, rows[1].StartAt, s.detail(t, first).Conference.StartAt)
	require.Empty(t, s.detail(t, again).Summary.ErrorsByFunction)
	s.calls = append(s.calls, again)
}

// checkStore reads the file itself, after the collector has stopped: nothing stands in it
// twice, and no number is missing.
//
// spec: SRV-03
func (s *scene) checkStore(t *testing.T) {
	s.stop()
	store, err := sqlite.Open(t.Context(), storeFile(t, s.store()), sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	page, err := store.Conferences(t.Context(), storage.Query{AppID: appID, Limit: 200})
	require.NoError(t, err)
	require.Len(t, page.Conferences, len(s.calls))
	for _, c := range page.Conferences {
		ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
		c, err := store.Conference(t.Context(), ref)
		require.NoError(t, err)
		require.NotNil(t, c.Summary, c.ConferenceID)
		require.True(t, json.Valid(c.Summary.Document))
		require.Len(t, c.Participants, 2, c.ConferenceID)
		scores := checkRecords(t, store, ref)
		t.Logf("%s: %d intervals without harm, %d in which loss is heard", c.ConferenceID, scores.clean, scores.lossy)
		if slices.ContainsFunc(s.calls, func(one *call) bool { return one.lossy && one.room == c.ConferenceID }) {
			require.Positive(t, scores.lossy, c.ConferenceID)
		}
	}
}

// scored are the intervals whose score is known from what was measured in them, on a machine
// however busy.
type scored struct{ clean, lossy int }

// check holds the score of an interval of sound against its measures: where nothing was lost,
// concealed, discarded, late or coded at a low rate it is high, and where loss was heard it is low.
func (s *scored) check(t *testing.T, r storage.Record) {
	t.Helper()
	number := func(name string) float64 {
		switch v := r.Attributes[eventtest.Stats(name)].(type) {
		case int64:
			return float64(v)
		case float64:
			return v
		}
		return 0
	}
	mos, ok := r.Attributes[semconv.QualityMOS].(float64)
	if !ok || r.Attributes[semconv.StatsType] != "inbound-rtp" || r.Attributes[semconv.MediaType] != "audio" || number("packets") < 20 {
		return
	}
	madeUp := (number("concealedSamples") - number("silentConcealedSamples")) / number("samples")
	lateMs := number("jitterBufferDelayMs") + number("rttMs")/2
	bps := number("bytes") * 8 / (number("packets") * 0.02)
	if number("packetsLost")+number("packetsDiscarded") == 0 && madeUp < 0.001 && lateMs < 60 && bps >= 24_000 {
		require.Greater(t, mos, 4.0, "number %d: %v", r.Seq, r.Attributes)
		s.clean++
	}
	if number("packetsLost") > 0 && madeUp >= 0.03 {
		require.Less(t, mos, 3.8, "number %d", r.Seq)
		s.lossy++
	}
}

func checkRecords(t *testing.T, store *sqlite.Store, ref storage.Ref) (scores scored) {
	t.Helper()
	type identity struct {
		seq   uint64
		index int
	}
	seen := map[string]map[identity]bool{}
	highest := map[string]uint64{}
	numbers := map[string]map[uint64]bool{}
	require.NoError(t, store.Records(t.Context(), ref, func(session string, r storage.Record) bool {
		if seen[session] == nil {
			seen[session], numbers[session] = map[identity]bool{}, map[uint64]bool{}
		}
		id := identity{r.Seq, r.Index}
		require.False(t, seen[session][id], "%s: %v twice", session, id)
		seen[session][id] = true
		first := r.Seq
		if r.Name == semconv.EventSkip {
			first = uint64(r.Attributes[semconv.SkipFrom].(int64))
		}
		for n := first; n <= r.Seq; n++ {
			numbers[session][n] = true
		}
		highest[session] = max(highest[session], r.Seq)
		scores.check(t, r)
		return true
	}))
	require.Len(t, seen, 2)
	for session, last := range highest {
		require.Len(t, numbers[session], int(last), "%s: numbers are missing", session)
	}
	return scores
}
