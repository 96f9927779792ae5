package e2e

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// tellsUnits: the milliseconds and levels that the application gets are what the browser reports
// in seconds and levels, over a path that takes 60 ms; and the link that it is given opens the
// conference.
//
// spec: API-03, STAT-02, STAT-08
func tellsUnits(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	path := startEdge(t, 7)
	path.up.set(harm{delay: 30 * time.Millisecond})
	path.down.set(harm{delay: 30 * time.Millisecond})
	p := l.open(t, b, "units")
	recorder, err := os.ReadFile("testdata/answers.js")
	require.NoError(t, err)
	p.does(string(recorder) + "window.recordAnswers = recordAnswers")
	p.logsIn("{}")
	media := "camera()"
	if b.Kind == browser.Chromium { // a window of Firefox that is not in front gets no microphone
		media = "new MediaStream([...camera().getTracks(), ...(await navigator.mediaDevices.getUserMedia({ audio: true })).getTracks()])"
	}
	p.does(`const { near } = pair(room, { config: ` + relayOnly(path.url) + `, media: ` + media + ` });
		window.pairs = { reported: [], ...recordAnswers(near) };
		library.on('stats', (stats) => pairs.reported.push(pairs.measured(stats)));
		monitor(room, { usage: 'multiplex' });
		window.early = 0; // the SSRC is named before anything was sent
		await negotiate(ends[room], { describe: (sdp) => {
			if (!early) {
				early = Number(/^a=ssrc:(\d+)/m.exec(sdp)[1]);
				say('associateMstWithUserID', near, 'ada', room, early, 'named early');
			}
			return sdp;
		} })`)
	p.sees(patience, "pairs.reported.filter(({ stats }) => stats.mediaStreamTracks.some(({ statsType }) => statsType === 'remote-inbound-rtp')).length > 3")
	if b.Kind == browser.Chromium { // Firefox has no level; a busy machine's microphone is late
		p.sees(patience, `pairs.reported.some(({ stats, reading }) => stats.mediaStreamTracks.some(({ audioInputLevel }) => Number.isFinite(audioInputLevel)) &&
			reading >= 0 && pairs.readings[reading].reports.some(({ type, kind, roundTripTime }) => type === 'remote-inbound-rtp' && kind === 'audio' && Number.isFinite(roundTripTime)))`)
	}
	var account watched
	p.Get("pairs", &account)
	var link string
	p.Get("reported.at(-1).stats.conferenceURL", &link)
	var early float64
	p.Get("early", &early)
	p.does("hangUp(room)")
	last := account.Reported[len(account.Reported)-1].Stats.MediaStreamTracks
	require.True(t, slices.ContainsFunc(last, func(track object) bool {
		return track.number("ssrc") == early && track["usageLabel"] == "named early"
	}))
	compared, levels := 0, 0
	account.replay(func(n int, want []*interval) {
		tracks := byStream(account.Reported[n].Stats.MediaStreamTracks, trackKey)
		for _, i := range want {
			if i.inbound() || i.statsType == "candidate-pair" {
				continue
			}
			track := tracks[i.key]
			require.NotNil(t, track, i.key)
			ownFigures.check(t, i, track)
			if math.IsNaN(i.remote.number("roundTripTime")) {
				continue // before the first report of the other end
			}
			compared++
			require.Greater(t, track.number("rtt"), 100.0, "60 ms each way")
			require.Greater(t, track.number("averageRTT"), 100.0)
			if !math.IsNaN(track.number("audioInputLevel")) {
				levels++
			}
		}
	})
	require.Positive(t, compared)
	require.Equal(t, b.Kind == browser.Chromium, levels > 0)
	p.shows(l, link, p.room)
}
