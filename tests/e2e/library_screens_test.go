package e2e

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// contentOf returns the script for the contentType of the newest row of a set in a room: 2 of received video, 4 of sent.
const contentOf = `window.contentOf = (set) => {
	const names = frames('columns').find((one) => one.set === set)?.names ?? [];
	const row = frames('stats').flatMap(({ rows }) => rows).findLast(([number]) => number === set);
	return row && row[1 + names.indexOf('contentType')];
}`

// showsScreens: sent video is a screen by the hint of its track, from screenShareStart to screenShareStop, and by
// its label; a camera is none. Only Chromium knows it of received video.
//
// spec: STAT-01
func showsScreens(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "screens")
	p.does(contentOf)
	p.logsIn("{}")
	p.does("window.track = camera().getVideoTracks()[0]; await call(room, { media: new MediaStream([track]), usage: 'multiplex' })")
	p.sees(patience, "contentOf(4) === null")
	for _, step := range [][2]string{
		{"say('sendFabricEvent', ends[room].near, 'screenShareStart', room)", "'screenshare'"},
		{"say('sendFabricEvent', ends[room].near, 'screenShareStop', room)", "null"},
		{"track.contentHint = 'detail'", "'screenshare'"},
		{"track.contentHint = 'motion'", "null"},
		{"say('associateMstWithUserID', ends[room].near, 'ada', room, frames('event').find(({ data }) => data.ssrc).data.ssrc, 'the screen')", "'screenshare'"},
	} {
		p.does(step[0])
		p.sees(patience, "contentOf(4) === "+step[1])
	}
	p.does("hangUp(room); window.other = camera().getVideoTracks()[0]; other.contentHint = 'text'; window.there = room + ' there'")
	p.does("pair(there, { media: new MediaStream([other]) }); monitor(there, { pc: ends[there].far, usage: 'multiplex' }); await negotiate(ends[there])")
	p.sees(patience, map[string]string{browser.Chromium: "contentOf(2) === 'screenshare'", browser.Firefox: "contentOf(2) === null"}[b.Kind])
	p.does("say('sendFabricEvent', ends[there].far, 'fabricTerminated', there)")
	summary := l.keeps(t, p.room, "a summary", ended).Summary
	require.Len(t, summary.Participants[0].Fabrics[0].Streams, 1)
}

// sendsNothing: a track that had ended before the call, and a TURN server that does not answer, are reported.
//
// spec: FAB-05, FAB-07
func sendsNothing(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "nothing sent")
	p.logsIn("{}")
	nobody, err := net.ListenPacket("udp4", "127.0.0.1:0") // takes everything and answers nothing
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, nobody.Close()) })
	p.does(fmt.Sprintf(`window.silent = room + ' silent'; window.over = room + ' over';
		await call(silent, { config: { iceTransportPolicy: 'relay', iceServers: [{ urls: 'turn:127.0.0.1:%d?transport=udp', username: 'a', credential: 'b' }] } });
		const media = camera();
		media.getTracks()[0].stop();
		await call(over, { media, usage: 'multiplex' })`, nobody.LocalAddr().(*net.UDPAddr).Port))
	p.sees(patience, "up(over) && events('streamAdded').some(({ data }) => data.statsType === 'outbound-rtp')")
	p.does("hangUp(over); hangUp(silent)")
	added := l.keeps(t, p.room+" over", "a summary", ended).events("streamAdded")
	require.Equal(t, "ended", added[0]["trackState"])
	failed := l.keeps(t, p.room+" silent", "a summary", ended).events("fabricSetupFailed")
	require.Len(t, failed, 1)
	require.InDelta(t, 0, failed[0]["localCandidates"], 0)
}
