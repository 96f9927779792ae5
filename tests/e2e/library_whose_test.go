package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// foreignConnections are genuine RTCPeerConnections that were never added, however they were made.
const foreignConnections = `
	const frame = document.body.appendChild(document.createElement('iframe'));
	const native = RTCPeerConnection;
	function Shim(config) { return new native(config); }
	Shim.prototype = native.prototype;
	const refused = new native();
	say('addNewFabric', refused, '', 'data', room);
	const closed = new native();
	closed.close();
	const foreign = {
		genuine: new native(),
		subclass: new (class extends native { get signalingState() { return 'mine'; } })(),
		'of an iframe': new frame.contentWindow.RTCPeerConnection(),
		'of a shim': new Shim(),
		refused,
		closed,
		'of another conference': ends[room + ' other'].near,
	};
	window.RTCPeerConnection = Shim;`

// lookAlikes stand for the PeerConnection of a conference's only fabric.
const lookAlikes = `
	class Wrapper {
		#pc = near;
		getStats() { return this.#pc.getStats(); }
		get signalingState() { return this.#pc.signalingState; }
	}
	const standing = {
		proxy: new Proxy(near, {}),
		'binding proxy': new Proxy(near, { get: (pc, name) => typeof pc[name] === 'function' ? pc[name].bind(pc) : pc[name] }),
		heir: Object.create(near),
		wrapper: new Wrapper(),
		bound: Object.defineProperty({}, 'signalingState', { get: Object.getOwnPropertyDescriptor(native.prototype, 'signalingState').get.bind(near) }),
		nothing: null,
	};`

// actsOnItsOwn: a genuine connection that is no fabric of the conference acts on nobody's; what
// wraps one stands for the only fabric there is, and for none of two.
//
// spec: API-03, API-06, API-12
func actsOnItsOwn(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "whose")
	p.logsIn("{}")
	p.does("await call(room); await call(room + ' other')")
	p.sees(patience, "up(room) && up(room + ' other')")
	var answers map[string]answer
	p.Get(`(async (room) => {
		const all = {};
		const { near, far } = ends[room];
		`+foreignConnections+lookAlikes+`
		for (const [kind, pc] of Object.entries(foreign)) {
			for (const name of Object.keys(library.fabricEvent))
				if (!name.startsWith('fabricSetup')) all['refused ' + name + ', ' + kind] = say('sendFabricEvent', pc, name, room, {});
			for (const type of ['local', 'remote']) all['refused ' + type + ', ' + kind] = say('reportUserIDChange', pc, room, 'mallory', type);
			all['refused association, ' + kind] = say('associateMstWithUserID', pc, 'mallory', room, 1, '');
			all['error, ' + kind] = say('reportError', pc, room, 'createOffer', kind);
		}
		for (const [kind, pc] of Object.entries(standing)) {
			all['event, ' + kind] = say('sendFabricEvent', pc, 'audioMute', room, { by: kind });
			if (pc) all['rename, ' + kind] = say('reportUserIDChange', pc, room, kind, 'remote');
			if (pc) all['association, ' + kind] = say('associateMstWithUserID', pc, kind, room, 1, '');
		}
		say('addNewFabric', far, 'ada', 'data', room);
		for (const [kind, pc] of Object.entries(standing)) {
			all['ambiguous event, ' + kind] = say('sendFabricEvent', pc, 'fabricTerminated', room);
			if (pc) all['ambiguous rename, ' + kind] = say('reportUserIDChange', pc, room, 'mallory', 'remote');
			all['error of two, ' + kind] = say('reportError', pc, room, 'createOffer', kind);
		}
		frame.remove();
		window.RTCPeerConnection = native;
		for (const pc of Object.values(foreign).slice(0, -1)) pc.close();
		return all;
	})(`+quote(p.room)+")", &answers)
	for what, said := range answers {
		switch {
		case strings.HasPrefix(what, "refused"):
			require.Equal(t, "failure", said.Status, what)
			require.Equal(t, "pc is no fabric of this conferenceID, 0 fit", said.Msg, what)
		case strings.HasPrefix(what, "ambiguous"):
			require.Equal(t, "failure", said.Status, what)
			require.Equal(t, "pc is no fabric of this conferenceID, 2 fit", said.Msg, what)
		default:
			require.Equal(t, answer{Status: "success"}, said, what)
		}
	}
	require.Greater(t, len(answers), 7*15+6*3)
	p.does("hangUp(room); say('sendFabricEvent', ends[room].far, 'fabricTerminated', room); hangUp(room + ' other')")
	whole := l.keeps(t, p.room, "a summary", ended)
	var muted []any
	for _, one := range whole.events("audioMute") {
		muted = append(muted, one["by"])
	}
	require.ElementsMatch(t, []any{"proxy", "binding proxy", "heir", "wrapper", "bound", "nothing"}, muted)
	for _, one := range append(whole.events("userIDChange"), whole.events("associateMstWithUserID")...) {
		require.NotContains(t, jsonOf(one), "mallory")
	}
	require.Len(t, whole.events("fabricTerminated"), 2)
	require.Equal(t, "bound", whole.Summary.Participants[0].Fabrics[0].RemoteAlias)
	errors := 0
	for _, one := range whole.Timeline {
		if one.Kind == "error" {
			require.Zero(t, one.Fabric, one.Message)
			errors++
		}
	}
	require.Equal(t, 7+6, errors)
}

// renamesOne: a local rename is of the participant in one conference, a remote one of one
// fabric: in the statistics, in the store and on the dashboard.
//
// spec: API-06
func renamesOne(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "renames")
	p.logsIn("{}")
	p.does(`const rooms = [room, room + ' too', room + ' other'];
		const show = { media: camera(), usage: 'video' };
		for (const one of rooms) await call(one, show);
		const second = pair(room + ' second', show);
		say('addNewFabric', second.near, 'heidi', 'video', room);
		await negotiate(second);
		window.named = (one) => [...new Set(reported.filter(({ stats }) => stats.conferenceID === one).flatMap(({ stats }) => stats.mediaStreamTracks)
			.filter(({ statsType }) => statsType === 'outbound-rtp').map(({ userID, remoteUserID }) => userID + ' to ' + remoteUserID))].sort().join()`)
	p.sees(patience, "named(room) === 'ada to grace,ada to heidi' && named(room + ' other') === 'ada to grace'")
	p.does(`reported.length = 0;
		say('reportUserIDChange', ends[room].near, room, 'ada-2', 'local');
		say('reportUserIDChange', ends[room].near, room, 'grace-2', 'remote')`)
	p.sees(patience, "named(room) === 'ada-2 to grace-2,ada-2 to heidi' && named(room + ' other') === 'ada to grace'")
	p.does("hangUp(room); hangUp(room + ' other'); hangUp(room + ' too'); say('sendFabricEvent', ends[room + ' second'].near, 'fabricTerminated', room)")
	whole := l.keeps(t, p.room, "a summary", ended)
	participant := whole.Summary.Participants[0]
	require.Equal(t, "ada-2", participant.Alias)
	require.Equal(t, []string{"grace-2", "heidi"}, []string{participant.Fabrics[0].RemoteAlias, participant.Fabrics[1].RemoteAlias})
	require.Equal(t, "ada-2", whole.Conference.Participants[0].User)
	other := l.keeps(t, p.room+" other", "a summary", ended)
	require.Equal(t, "ada", other.Summary.Participants[0].Alias)
	require.Equal(t, "ada", other.Conference.Participants[0].User)
	require.Equal(t, "grace", other.Summary.Participants[0].Fabrics[0].RemoteAlias)

	require.Equal(t, []string{"grace-2", "heidi"}, []string{whole.Fabrics[0].RemoteUser, whole.Fabrics[1].RemoteUser})
	for room, name := range map[string]string{p.room: "ada-2", p.room + " other": "ada"} {
		for _, user := range []string{name, "ada"} { // also by the former name
			rows := l.found(url.Values{"id": {room}, "user": {user}})
			require.Len(t, rows, 1, user)
			require.Equal(t, name, rows[0].Participants[0].User, "in the list")
		}
	}
	require.Empty(t, l.found(url.Values{"id": {p.room + " other"}, "user": {"ada-2"}}))
	var link string
	p.Get("reported.findLast(({ stats }) => stats.conferenceID === "+quote(p.room)+").stats.conferenceURL", &link)
	p.shows(l, link, "ada-2", "grace-2", "heidi")
}

// keepsThePace: an application measures as often as it is set, whatever the collector's own
// interval is.
//
// spec: STAT-01
func keepsThePace(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "pace")
	p.does("begin('ada', {}, { app: " + quote(secondAppID) + ", secret: " + quote(secondAppSecret) + " })")
	p.sees(patience, "heard.init.some(([err]) => err === 'success')")
	p.does("await call(room)")
	p.sees(2*patience, "frames('stats').filter(({ fabric }) => fabric === 1).length > 4")
	var intervals []float64
	p.Get("frames('stats').filter(({ fabric }) => fabric === 1).map(({ intervalMs }) => intervalMs)", &intervals)
	p.does("hangUp(room)")
	measuresEvery(t, 4000, intervals[1:]) // the first began when the call was set up
}
