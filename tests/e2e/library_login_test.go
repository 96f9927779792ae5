package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// logsInLater: what is said before a login succeeds waits, with its times, in a bounded
// queue; what has to be dropped is counted, and shown beside the conference.
//
// spec: INIT-05, INIT-06, INIT-07, FAB-07, FAB-12, STAT-07
func logsInLater(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	const fillers = 450 // of 3 kB: more than the library keeps
	p := l.open(t, b, "logs in later")
	p.does("begin('ada', {}, { secret: 'another secret' }); await call(room)")
	p.sees(patience, "up(room) && heard.init.length && heard.fabric.length")
	p.does("window.addedLate = new RTCPeerConnection(); monitor(room, { pc: addedLate })")
	p.does(`for (let n = 1; n <= 450; n++) library.sendCustomEvent(ends[room].near, room, [{ name: 'filler', n, text: 'x'.repeat(3000) }]);
		window.mutedAt = Date.now(); library.sendFabricEvent(ends[room].near, 'audioMute', room, { said: 'before the login' });
		library.sendUserFeedback(room, { userID: 'ada', overall: 3 }, hear('feedback'))`)
	p.sees(patience, "count(room) > 3")
	var heard struct{ Init, Fabric, Feedback [][]string }
	p.Get("heard", &heard)
	require.Len(t, heard.Init, 1, "once")
	require.Equal(t, "authError", heard.Init[0][0])
	refused := heard.Init[0]
	require.Equal(t, [][]string{refused, refused}, heard.Fabric, "each gets the csError that applies, the later one too")
	require.Equal(t, [][]string{refused}, heard.Feedback)
	var online []string
	p.Get("[...new Set(reported.map(({ stats }) => stats.connectionState))]", &online)
	require.Equal(t, []string{"offline"}, online)

	p.does("window.loginAt = Date.now(); begin('ada')")
	p.sees(patience, "heard.feedback.length && heard.fabric.length > 1 && reported.at(-1).stats.connectionState === 'online'")
	p.does("ends[room].far.close(); addedLate.close(); hangUp(room)")
	p.sees(patience, "states(room).at(-1) === 'terminated'")
	p.Get("heard", &heard)
	require.Equal(t, [][]string{refused}, heard.Feedback, "once")
	require.Equal(t, [][]string{refused, refused}, heard.Fabric, "once")
	require.Equal(t, [][]string{refused}, p.results("init", "authError"), "once")
	require.Contains(t, p.results("init", "success"), []string{"success", "authenticated"})
	var synchronous int
	p.Get("heard.synchronous", &synchronous)
	require.Zero(t, synchronous, "callbacks that ran before their operation returned")

	whole := l.keeps(t, p.room, "a summary with feedback", func(k *kept) bool { return ended(k) && k.Summary.Feedback.Count == 1 })
	require.Equal(t, 1, whole.Conference.ParticipantCount, "the session goes on")
	require.Len(t, whole.Fabrics, 2)
	var mutedAt, loginAt int64
	p.Get("mutedAt", &mutedAt)
	p.Get("loginAt", &loginAt)
	require.Len(t, whole.events("audioMute"), 1)
	for _, one := range whole.Timeline {
		if one.Name == "audioMute" {
			// Half the time that the login took is what the clock may be wrong by.
			require.InDelta(t, mutedAt, one.At, float64(loginAt-mutedAt)/2, "when it was said")
			require.Less(t, one.At, loginAt)
		}
	}
	lost := whole.Summary.LostEvents
	require.Positive(t, lost)
	require.Equal(t, fillers, lost+len(whole.events("customEvent")), "declared, or there")
	var link string
	p.Get("reported.at(-1).stats.conferenceURL", &link)
	p.shows(l, link, fmt.Sprintf("%d events never left the browsers", lost))
}

// changesUser: another AppID, or another user, is another session; what belongs to the one
// before ends. A page may take no callbacks at all.
//
// spec: INIT-05, INIT-06, FAB-09, FAB-11
func changesUser(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "changes user")
	p.logsIn("{}")
	p.does("await call(room)")
	p.sees(patience, "up(room) && count(room) > 0")
	p.does("begin('ada', {}, { app: 'second', secret: 'second-secret', init: null }); monitor(room)")
	p.sees(patience, "reported.at(-1).stats.fabricState === 'established' && reported.at(-1).stats.connectionState === 'online'")
	p.does("library.sendFabricEvent(ends[room].near, 'audioMute', room); hangUp(room)")
	p.sees(patience, "reported.filter(({ stats }) => stats.fabricState === 'terminated').length === 2")
	authenticated := slices.DeleteFunc(p.results("init", "success"), func(result []string) bool { return result[1] != "authenticated" })
	require.Len(t, authenticated, 1, "the second session has no callback")

	before := l.keeps(t, p.room, "a summary", ended)
	require.Equal(t, []map[string]any{{"reason": "replaced"}}, before.events("fabricTerminated"))
	require.Empty(t, before.events("audioMute"))
	after := l.keepsOf(t, secondAppID, p.room, "a summary", ended)
	require.Equal(t, []map[string]any{{"reason": "application", "measurementFollows": true}}, after.events("fabricTerminated"))
	require.Len(t, after.events("audioMute"), 1)
	require.Len(t, after.Fabrics, 1)
	require.True(t, after.Summary.Participants[0].Fabrics[0].AlreadyConnected)
}
