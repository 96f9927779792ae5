package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/scenario"
)

// measurements is how many a call has before it ends, one every 2 s.
var measurements = testenv.Pick(6, 12)

const (
	reportedFunction = "createOffer"
	reportedMessage  = "reported by the end-to-end test"
	comment          = "heard every word"
	rating           = 4

	lossFraction = 0.1
)

// call is one call that was made, and what its checks need to know.
type call struct {
	name  string
	kind  string // of Ada's browser
	room  string
	lossy bool
	brief bool   // nothing was said in it
	url   string // of its page on the dashboard, as the library names it
}

// scene is a collector and the calls made on it, one after the other: two at once would
// starve each other on a small machine, and the scores would differ.
type scene struct {
	*collector
	sink   *scenario.Records // what its receiver emitted
	calls  []*call
	joined map[string]float64 // participants by their browser
}

// media makes the two browsers' pages cheap enough to run on two cores. Firefox gets its
// sound from a fake device, for without any device it makes none.
func media(kind string) []string {
	if kind == browser.Firefox {
		return []string{"height", "240", "synthetic", "0"}
	}
	return []string{"height", "240", "synthetic", "1", "fps", "20"}
}

// newScene starts a collector whose receiver's records are kept.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{collector: newCollector(t), sink: scenario.StartRecords(t)}
	s.records = s.sink.URL
	s.start()
	return s
}

// TestCallInChromium makes a call from the library to the pages, the metrics and the store.
//
// spec: CONF-01, CONF-02
func TestCallInChromium(t *testing.T) { callIn(t, browser.Chromium) }

// TestCallInFirefox makes the same call.
//
// spec: CONF-01, CONF-02
func TestCallInFirefox(t *testing.T) { callIn(t, browser.Firefox) }

func callIn(t *testing.T, kind string) {
	t.Helper()
	s := newScene(t)
	b := browser.Start(t, kind)
	s.goodCall(t, b)
	s.checkConferences(t)
	t.Run("Dashboard", func(t *testing.T) { s.checkDashboard(t, b) })
	t.Run("Metrics", s.checkMetrics)
	t.Run("Store", s.checkStore)
}

// TestLossInChromium compares a call that loses a tenth of its packets with a good one.
//
// spec: CONF-02, CONF-03, QUAL-01
func TestLossInChromium(t *testing.T) { lossIn(t, browser.Chromium) }

// TestLossInFirefox compares the same calls.
//
// spec: CONF-02, CONF-03, QUAL-01
func TestLossInFirefox(t *testing.T) { lossIn(t, browser.Firefox) }

func lossIn(t *testing.T, kind string) {
	t.Helper()
	s := newScene(t)
	b := browser.Start(t, kind)
	s.goodCall(t, b)
	s.lossyCall(t, b)
	s.checkConferences(t)
	t.Run("LossIsSeen", s.checkLossIsSeen)
	t.Run("Metrics", s.checkMetrics)
	t.Run("Store", s.checkStore)
}

// TestCallBetweenBrowsers makes a call between Chromium and Firefox, which is killed. 30 s later the conferenceID is used again.
//
// spec: CONF-01, CONF-02
func TestCallBetweenBrowsers(t *testing.T) {
	browser.Require(t, browser.Chromium, browser.Firefox)
	s := newScene(t)
	a := browser.Start(t, browser.Chromium)
	s.mixedCall(t, a, browser.Start(t, browser.Firefox))
	s.checkConferences(t)
	t.Run("UsedAgain", func(t *testing.T) { s.checkUsedAgain(t, a) })
	t.Run("Metrics", s.checkMetrics)
	t.Run("Store", s.checkStore)
}

// checkConferences waits for the ends of the calls and checks what was made of them.
func (s *scene) checkConferences(t *testing.T) {
	t.Helper()
	s.allEnd(t)
	for _, one := range s.calls {
		t.Run("Conference/"+one.name, func(t *testing.T) { s.checkConference(t, one) })
	}
}

// goodCall is a call between two windows of one browser on a perfect network. Grace closes
// her window without a word, Ada hangs up.
func (s *scene) goodCall(t *testing.T, b *browser.Browser) {
	t.Helper()
	one := &call{name: b.Kind, kind: b.Kind, room: "call in " + b.Kind}
	ada := s.join(t, b, one, "ada")
	grace := s.join(t, b, one, "grace")
	s.talk(t, one, ada, grace)
	if b.Kind == browser.Firefox && !testenv.Long() { // it sends nothing when a window closes: the call would end 30 s later
		require.NoError(t, b.Navigate(grace.Context, "about:blank"))
	}
	grace.CloseTab()
	s.hangUp(one, ada)
	s.calls = append(s.calls, one)
}

// lossyCall is the same through a relay that loses a tenth of the media.
func (s *scene) lossyCall(t *testing.T, b *browser.Browser) {
	t.Helper()
	r := startRelay(t, lossFraction)
	one := &call{name: "loss in " + b.Kind, kind: b.Kind, room: "lossy call in " + b.Kind, lossy: true}
	ada := s.join(t, b, one, "ada", r.query()...)
	grace := s.join(t, b, one, "grace", r.query()...)
	s.talk(t, one, ada, grace)
	s.hangUp(one, ada)
	s.calls = append(s.calls, one)
	require.InDelta(t, lossFraction, float64(r.dropped.Load())/float64(r.carried.Load()), 0.03, "what the relay did")
}

// mixedCall is between the two browsers. Grace's is killed, as by an empty battery.
func (s *scene) mixedCall(t *testing.T, a, b *browser.Browser) {
	t.Helper()
	one := &call{name: "mixed", kind: browser.Chromium, room: "call between browsers"}
	ada := s.join(t, a, one, "ada")
	grace := s.join(t, b, one, "grace")
	s.talk(t, one, ada, grace)
	b.Process.Kill()
	s.hangUp(one, ada)
	grace.Context = "" // nothing to take a picture of
	s.calls = append(s.calls, one)
}

func (s *scene) join(t *testing.T, b *browser.Browser, one *call, user string, more ...string) *page {
	t.Helper()
	p := openPage(t, b, user, demoURL(s.demo, one.room, user, append(media(b.Kind), more...)...))
	p.Until(patience, "demo.state.joined") // a window in the background gets no camera in Firefox
	if s.joined == nil {
		s.joined = map[string]float64{}
	}
	s.joined[b.Kind]++
	return p
}

// talk is the call: both sides hear and see each other, and Ada uses her buttons.
//
// spec: INIT-05, STAT-02, FAB-12
func (s *scene) talk(t *testing.T, one *call, ada, grace *page) {
	t.Helper()
	for _, p := range []*page{ada, grace} {
		p.Until(patience, "demo.state.init.some(([csError]) => csError === 'success')")
		p.mediaFlows()
	}
	ada.Run("demo.mute(true)")
	ada.Until(patience, "demo.state.statsCount >= 3")
	ada.Run("demo.mute(false)")
	ada.Run(fmt.Sprintf("demo.reportError(%q, %q)", reportedFunction, reportedMessage))
	var feedback [2]string
	ada.Get(fmt.Sprintf("demo.feedback({overall: %d, comment: %q})", rating, comment), &feedback)
	require.Equal(t, "success", feedback[0])
	for _, p := range []*page{ada, grace} {
		p.Until(patience+time.Duration(measurements)*statsInterval, fmt.Sprintf("demo.state.statsCount >= %d", measurements))
	}
	s.checkCallback(t, one, ada)
	s.checkLive(t, one)
	var refused [][]string
	ada.Get("demo.state.calls.filter(([, status]) => status !== 'success')", &refused)
	require.Empty(t, refused)
}

// checkCallback looks at what the library tells the application.
//
// spec: STAT-02, STAT-08, FAB-07
func (s *scene) checkCallback(t *testing.T, one *call, ada *page) {
	t.Helper()
	var stats struct {
		ConnectionState   string
		FabricState       string
		ConferenceURL     string
		MediaStreamTracks []struct {
			StatsType    string
			MediaType    string
			RemoteUserID string
			Bitrate      *float64
			RTT          *float64
		}
	}
	ada.Get("demo.state.stats", &stats)
	require.Equal(t, "online", stats.ConnectionState)
	require.Equal(t, "established", stats.FabricState)
	one.url = stats.ConferenceURL
	require.Contains(t, one.url, s.dashboard+"/conference?")
	seen := map[string]bool{}
	for _, track := range stats.MediaStreamTracks {
		require.Equal(t, "grace", track.RemoteUserID)
		if track.StatsType == "inbound-rtp" || track.StatsType == "outbound-rtp" {
			require.NotNil(t, track.Bitrate)
			seen[track.MediaType+" "+track.StatsType] = true
		}
	}
	require.Len(t, seen, 4, "sound and picture, both ways: %v", seen)
}

// checkLive looks at the listing while the call goes on.
func (s *scene) checkLive(t *testing.T, one *call) {
	t.Helper()
	rows := s.list(one.room)
	require.Len(t, rows, 1)
	require.Equal(t, "live", rows[0].State)
	require.Equal(t, 2, rows[0].ParticipantCount)
}

// hangUp waits until the collector has heard of it: a browser that is closed at once may
// take the word with it.
//
// spec: FAB-08
func (s *scene) hangUp(one *call, ada *page) {
	ada.T.Helper()
	ada.Run("demo.hangUp()")
	ada.Until(patience, "!demo.state.joined")
	browser.Eventually(ada.T, patience, "the hang-up is on the time-line", func() (bool, string) {
		d := s.detail(ada.T, one)
		return slices.Contains(d.events(d.session("ada")), "fabricTerminated"), fmt.Sprint(d.Timeline)
	})
}

// row is a row of the dashboard's listing.
type row struct {
	ID               string
	StartAt          int64
	EndAt            int64
	State            string
	Outcome          string
	MOS              *float64
	Label            string
	Revision         int
	ParticipantCount int
	Participants     []struct{ Session, User string }
}

func (s *scene) list(room string) []row {
	s.t.Helper()
	var answer struct{ Conferences []row }
	s.ask("/api/conferences", url.Values{"app": {appID}, "id": {room}}, &answer)
	return answer.Conferences
}

// allEnd waits until each conference has its summary.
//
// spec: CONF-02
func (s *scene) allEnd(t *testing.T) {
	t.Helper()
	for _, one := range s.calls {
		browser.Eventually(t, patience, one.name+" has a summary", func() (bool, string) {
			rows := s.list(one.room)
			return len(rows) == 1 && rows[0].State == "ended", fmt.Sprintf("%+v", rows)
		})
	}
}
