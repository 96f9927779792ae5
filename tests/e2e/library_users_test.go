package e2e

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// namesSpeakers: tracks belong to the local or the remote user until the application says
// whose they are; from then on their names appear here, in the store and on the dashboard.
//
// spec: API-03, API-06, API-12, STAT-02
func namesSpeakers(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "speakers")
	p.logsIn("{}")
	p.does(`const { near, far } = pair(room, { media: camera() });
		say('addNewFabric', far, 'heidi', 'video', room); // the first of three
		say('addNewFabric', window.idle = new RTCPeerConnection(), 'nobody', 'video', room);
		window.track = (statsType, source) => reported.flatMap(({ stats }) => stats.mediaStreamTracks)
			.findLast((one) => one.statsType === statsType && one.ssrc === source);
		await negotiate(ends[room]);
		window.source = Number(/^a=ssrc:(\d+)/m.exec(near.localDescription.sdp)[1])`)
	p.sees(patience, "track('inbound-rtp', source)?.userID === 'heidi'")
	// By another object than the one that is monitored: the stream says which one is meant.
	p.does(`window.said = [say('associateMstWithUserID', Object.create(ends[room].far), 'carol', room, String(source), '', 'picture')];
		say('addNewFabric', ends[room].near, 'grace', 'video', room)`)
	p.sees(patience, "track('outbound-rtp', source)?.userID === 'ada'")
	p.does(`said.push(
			say('associateMstWithUserID', ends[room].near, 'dave', room, 4_000_000_001, 'to come'),
			say('reportUserIDChange', ends[room].far, room, 'ivan', 'remote'),
			say('reportUserIDChange', ends[room].near, room, 'ada-2', 'local'),
		)`)
	p.sees(patience, "track('inbound-rtp', source).userID === 'carol' && track('outbound-rtp', source).userID === 'ada-2'")
	var said []answer
	p.Get("said", &said)
	for _, one := range said {
		require.Equal(t, answer{Status: "success"}, one)
	}
	var inbound object
	p.Get("track('inbound-rtp', source)", &inbound)
	require.Equal(t, []any{"", "picture"}, []any{inbound["usageLabel"], inbound["associatedVideoTag"]})
	p.sees(patience, `(() => { // the element's size is measured, in the pixels of the device
		const set = frames('columns').find((one) => one.statsType === 'inbound-rtp' && one.mediaType === 'video');
		const cell = 1 + set.names.indexOf('displayedPixels');
		return frames('stats').flatMap(({ rows }) => rows).some((cells) => cells[0] === set.set && cells[cell] === Math.round(160 * 120 * devicePixelRatio ** 2));
	})()`)
	p.does("for (const pc of [...Object.values(ends[room]), idle]) pc.close?.()")
	p.sees(patience, "reported.filter(({ stats }) => stats.fabricState === 'terminated').length === 3")

	whole := l.keeps(t, p.room, "a summary", ended)
	require.Equal(t, 1, whole.Conference.ParticipantCount)
	participant := whole.Summary.Participants[0]
	require.Equal(t, "ada-2", participant.Alias)
	require.Equal(t, []string{"ivan", "grace"}, []string{participant.Fabrics[0].RemoteAlias, participant.Fabrics[2].RemoteAlias})
	var owners []string
	for _, one := range whole.Streams {
		if one.StatsType == "inbound-rtp" {
			owners = append(owners, fmt.Sprint(one.Fabric, " ", one.User))
		}
	}
	require.Contains(t, owners, "1 carol")
	var link string
	p.Get("reported.at(-1).stats.conferenceURL", &link)
	p.shows(l, link, "carol", "ada-2", "ivan")
}

// tellsConferencesApart: conferences whose IDs differ in case alone are two, and found as such.
//
// spec: FAB-09, FAB-13
func tellsConferencesApart(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "Ångström")
	p.logsIn("{}")
	lower := "ångström in " + b.Kind
	p.does("await call(room); await call(" + quote(lower) + ")")
	p.sees(patience, "count(room) > 0 && count("+quote(lower)+") > 0")
	p.does("library.sendFabricEvent(ends[room].near, 'audioMute', room); hangUp(room); hangUp(" + quote(lower) + ")")
	upperHas := l.keeps(t, p.room, "the end", fabricEnded)
	lowerHas := l.keeps(t, lower, "the end", fabricEnded)
	require.Len(t, upperHas.events("audioMute"), 1)
	require.Empty(t, lowerHas.events("audioMute"))
	require.Len(t, upperHas.Fabrics, 1)
	require.Len(t, lowerHas.Fabrics, 1)
	list := l.window(t, b, "conferences", l.dashboard+"/search?id="+url.QueryEscape(lower))
	list.Until(patience, "document.body.innerText.includes("+quote(lower)+")")
	list.Until(patience, "!document.querySelector('main').innerText.includes("+quote(p.room)+")")
}

// sameUser: one user in two browsers is two participants.
//
// spec: FAB-09
func (l *lab) sameUser(t *testing.T) {
	t.Helper()
	const room = "everybody"
	var pages []*labPage
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		p := l.open(t, l.browsers[kind], "same user")
		p.room = room
		p.logsIn("{}")
		p.does("await call(room)")
		pages = append(pages, p)
	}
	for _, p := range pages {
		p.sees(patience, "count(room) > 1")
	}
	for _, p := range pages {
		p.does("hangUp(room)")
	}
	whole := l.keeps(t, room, "a summary of both", func(k *kept) bool { return ended(k) && len(k.events("fabricTerminated")) == 2 })
	require.Equal(t, 2, whole.Conference.ParticipantCount)
	for _, one := range whole.Conference.Participants {
		require.Equal(t, "ada", one.User)
	}
}

// speaksOfConferences: without a PeerConnection, or with one that was never added, what is
// said belongs to the conference; what belongs to a fabric is refused.
//
// spec: API-01, API-12, FAB-02, FAB-11
func speaksOfConferences(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "of the conference")
	p.logsIn("{}")
	p.does("await call(room)")
	p.sees(patience, "up(room)")
	var answers map[string]answer
	p.Get(`(async (room) => {
		const all = {};
		const { near } = ends[room];
		for (const name of Object.keys(library.webRTCFunctions)) all['error ' + name] = say('reportError', null, room, name, name);
		all['details'] = say('sendCallDetails', undefined, room, { callType: 'monitoring', role: 'manager' });
		all['speaker'] = say('sendFabricEvent', undefined, 'dominantSpeaker', room);
		all['devices'] = say('sendFabricEvent', null, 'activeDeviceList', room, { deviceList: [] });
		all['another'] = say('sendFabricEvent', Object.create(near), 'audioMute', room);
		all['refused fabric'] = say('addNewFabric', null, 'grace', 'data', room);
		all['mute of the only one'] = say('sendFabricEvent', null, 'audioMute', room);
		all['refused change'] = say('reportUserIDChange', near, room + 'x', 'ivan', 'remote');
		all['refused association'] = say('associateMstWithUserID', new RTCPeerConnection(), 'carol', room + 'x', 1, 'label');
		all['refused function'] = say('reportError', near, room, 'createFoo', 'x');
		all['refused conference'] = say('reportError', near, undefined, 'createOffer', 'x');
		hangUp(room);
		while (states(room).at(-1) !== 'terminated') await wait(50);
		all['error after'] = say('reportError', near, room, 'createAnswer', 'after the end');
		all['log after'] = say('reportError', near, room, 'applicationLog', 'after the end');
		all['refused after'] = say('sendFabricEvent', near, 'audioMute', room);
		return all;
	})(`+quote(p.room)+")", &answers)
	refusals := map[string]string{
		"refused fabric": "pc must be", "refused change": "no fabric", "refused association": "no fabric",
		"refused function": "wrtcFuncName must be one of", "refused conference": "conferenceID must be", "refused after": "has ended",
	}
	for what, said := range answers {
		if refusals[what] == "" {
			require.Equal(t, answer{Status: "success"}, said, what)
			continue
		}
		require.Equal(t, "failure", said.Status, what)
		require.Contains(t, said.Msg, refusals[what], what)
	}
	require.Len(t, answers, 23)
	whole := l.keeps(t, p.room, "all that was said", func(k *kept) bool {
		after := 0 // a log and an error: annotations and activity are read one after the other
		for _, one := range k.Timeline {
			if one.Text == "after the end" || one.Message == "after the end" {
				after++
			}
		}
		return after == 2
	})
	functions := map[string]int{}
	for _, one := range whole.Timeline {
		if one.Kind == "error" {
			functions[one.Function]++
			require.Zero(t, one.Fabric, one.Function)
		}
	}
	require.Len(t, functions, 8)
	require.Equal(t, 2, functions["createAnswer"], "after the end too")
	require.Len(t, whole.events("callDetails"), 1)
	require.Len(t, whole.events("dominantSpeaker"), 1)
	require.Len(t, whole.events("activeDeviceList"), 1)
	require.Len(t, whole.events("audioMute"), 2)
	var ends int
	p.Get("reported.filter(({ stats }) => stats.fabricState === 'terminated').length", &ends)
	require.Equal(t, 1, ends)
}
