package e2e

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// roundTripMs is the mean of the interval's measurements, else the last one.
func roundTripMs(in interval, ssrc float64) float64 {
	count := in.rose("remote-inbound-rtp", ssrc, "roundTripTimeMeasurements")
	if count > 0 {
		return 1000 * in.rose("remote-inbound-rtp", ssrc, "totalRoundTripTime") / count
	}
	return 1000 * report(in.after, "remote-inbound-rtp", ssrc).number("roundTripTime") // unknown before the first one
}

// tellsUnits: what the application is told in milliseconds and levels is what the browser says
// in seconds and levels, over a path that takes 60 ms; and the link that it is given opens the
// conference.
//
// spec: API-03, STAT-02, STAT-08
func tellsUnits(t *testing.T, l *lab, b *browser) {
	t.Helper()
	path := startEdge(t, 7)
	path.up.set(harm{delay: 30 * time.Millisecond})
	path.down.set(harm{delay: 30 * time.Millisecond})
	p := l.open(t, b, "units")
	p.logsIn("{}")
	media := "camera()"
	if b.kind == chromium { // a window of Firefox that is not in front gets no microphone
		media = "new MediaStream([...camera().getTracks(), ...(await navigator.mediaDevices.getUserMedia({ audio: true })).getTracks()])"
	}
	p.does(`const { near } = pair(room, { config: ` + relayOnly(path.url) + `, media: ` + media + ` });
		const ask = near.getStats.bind(near);
		window.reading = [];
		window.pairs = []; // what was told, beside the reports that it was made of
		near.getStats = async () => { const reports = await ask(); reading = [...reports.values()]; return reports; };
		library.on('stats', (stats) => pairs.push({ reports: reading, tracks: JSON.parse(JSON.stringify(stats.mediaStreamTracks)) }));
		monitor(room, { usage: 'multiplex' });
		window.early = 0; // the SSRC is named before anything was sent
		await negotiate(ends[room], { describe: (sdp) => {
			if (!early) {
				early = Number(/^a=ssrc:(\d+)/m.exec(sdp)[1]);
				say('associateMstWithUserID', near, 'ada', room, early, 'named early');
			}
			return sdp;
		} })`)
	p.sees(60*time.Second, "pairs.filter(({ tracks }) => tracks.some(({ statsType }) => statsType === 'remote-inbound-rtp')).length > 3")
	var all []struct{ Reports, Tracks []object }
	p.get("pairs", &all)
	var link string
	p.get("told.at(-1).stats.conferenceURL", &link)
	var early float64
	p.get("early", &early)
	p.does("hangUp(room)")
	require.True(t, slices.ContainsFunc(all[len(all)-1].Tracks, func(track object) bool {
		return track.number("ssrc") == early && track["usageLabel"] == "named early"
	}))
	most, compared, levels := map[string]float64{}, 0, 0
	for i := range all {
		for _, track := range all[i].Tracks {
			if rtt := track.number("rtt"); rtt > most[track["mediaType"].(string)] {
				most[track["mediaType"].(string)] = rtt
			}
		}
		for _, track := range all[i].Tracks {
			kind := track["mediaType"].(string)
			require.Contains(t, []string{"audio", "video"}, kind)
			require.Contains(t, []string{"inbound-rtp", "outbound-rtp", "remote-inbound-rtp", "remote-outbound-rtp"}, track["statsType"])
			ssrc := track.number("ssrc")
			if track["statsType"] == "outbound-rtp" && i > 0 && !math.IsNaN(track.number("rtt")) {
				if want := roundTripMs(interval{all[i-1].Reports, all[i].Reports}, ssrc); !math.IsNaN(want) {
					require.InDelta(t, want, track.number("rtt"), 0.06, "rtt")
					compared++
				}
				require.Greater(t, track.number("rtt"), 100.0, "60 ms each way")
				require.Greater(t, track.number("averageRTT"), 100.0)
				require.LessOrEqual(t, track.number("averageRTT"), most[kind]+0.1)
			}
			for _, source := range all[i].Reports {
				level := source.number("audioLevel") // Firefox has none, Chromium none before the first sound
				if source["type"] == "media-source" && kind == "audio" && track["statsType"] == "outbound-rtp" && !math.IsNaN(level) {
					require.InDelta(t, level, track.number("audioInputLevel"), 0.0001)
					require.Nil(t, track["audioOutputLevel"])
					levels++
				}
			}
		}
	}
	require.Positive(t, compared)
	require.Equal(t, b.kind == chromium, levels > 0)
	p.shows(l, link, p.room)
}
