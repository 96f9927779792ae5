package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// countsTheSetUp: the set-up is counted from addNewFabric on, and not at all where it was over
// by then, which a wrapper of a PeerConnection tells as well as the real one.
//
// spec: FAB-05, FAB-06, FAB-10
func countsTheSetUp(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "set-up")
	p.logsIn("{}")
	p.does(`const slow = pair(room + ' slow');
		monitor(room + ' slow');
		const late = pair(room + ' late', { media: camera() });
		await negotiate(late);
		while (!up(room + ' late')) await wait(20);
		class Wrapper extends EventTarget {
			getStats() { return late.near.getStats(); }
			get iceConnectionState() { return late.near.iceConnectionState; }
			get connectionState() { return late.near.connectionState; }
			get signalingState() { return late.near.signalingState; }
			get localDescription() { return late.near.localDescription; }
			get remoteDescription() { return late.near.remoteDescription; }
		}
		late.wrapper = new Wrapper();
		window.again = [];
		for (const given of [[], [null], [undefined, undefined], [null, null], [{}, undefined]])
			again.push(say('addNewFabric', late.wrapper, 'grace', 'video', room + ' late', ...given));
		await wait(1500);
		await negotiate(slow)`)
	p.sees(patience, "count(room + ' late') > 1 && reported.at(-1).stats.mediaStreamTracks && up(room + ' slow') && count(room + ' slow') > 0")
	p.sees(patience, "reported.some(({ stats }) => stats.conferenceID === room + ' late' && stats.mediaStreamTracks.some(({ bitrate }) => bitrate > 0))")
	p.does("hangUp(room + ' slow'); say('sendFabricEvent', ends[room + ' late'].wrapper, 'fabricTerminated', room + ' late')")
	var again []answer
	p.Get("again", &again)
	require.Equal(t, answer{Status: "success"}, again[0])
	for _, one := range again[1:] {
		require.Equal(t, "success", one.Status)
		require.Contains(t, one.Msg, "is monitored already")
	}
	slow := l.keeps(t, p.room+" slow", "a summary", ended)
	setup := object(slow.events("fabricSetup")[0])
	require.GreaterOrEqual(t, setup.number("setupMs"), 1499.0, "from addNewFabric on")
	require.GreaterOrEqual(t, setup.number("gatheringMs"), 0.0)
	require.Less(t, setup.number("connectivityMs"), setup.number("setupMs"))
	fabric := slow.Summary.Participants[0].Fabrics[0]
	require.InDelta(t, setup.number("setupMs"), *fabric.SetupMs, 0)
	require.NotNil(t, fabric.GatheringMs)
	require.NotNil(t, fabric.ConnectivityMs)

	late := l.keeps(t, p.room+" late", "a summary", ended)
	require.Len(t, late.Fabrics, 1)
	require.Len(t, late.events("fabricSetup"), 1)
	for _, name := range []string{"setupMs", "gatheringMs", "connectivityMs"} {
		require.Contains(t, late.events("fabricSetup")[0], name)
		require.Nil(t, late.events("fabricSetup")[0][name])
	}
	fabric = late.Summary.Participants[0].Fabrics[0]
	require.True(t, fabric.AlreadyConnected)
	require.Nil(t, fabric.SetupMs)
	require.NotEmpty(t, fabric.Streams)
}

// endsAtOnce: a last reading is tried also where the PeerConnection is closed at once.
//
// spec: FAB-08, FAB-11
func endsAtOnce(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "ends at once")
	p.logsIn("{}")
	p.does("await call(room, { media: camera(), usage: 'video' })")
	p.sees(patience, "count(room) > 1 && reported.at(-1).stats.mediaStreamTracks.length")
	p.does("window.before = frames('stats').length; hangUp(room); ends[room].near.close()")
	p.sees(patience, "states(room).at(-1) === 'terminated'")
	var last struct{ Before, Stats, Tracks, Ends int }
	p.Get(`({ before, stats: frames('stats').length, tracks: reported.at(-1).stats.mediaStreamTracks.length,
		ends: reported.filter(({ stats }) => stats.fabricState === 'terminated').length })`, &last)
	require.Equal(t, 1, last.Ends)
	t.Logf("%+v", last)
	require.Equal(t, last.Tracks > 0, last.Stats > last.Before, "the last reading is given to the callback and sent, or neither")
	whole := l.keeps(t, p.room, "a summary", ended)
	require.Equal(t, []map[string]any{{"reason": "application", "measurementFollows": true}}, whole.events("fabricTerminated"))
}

// isUsedOddly: what existing applications do with the constructor and with its instances.
//
// spec: LIB-04, LIB-06, LIB-08, LIB-09
func isUsedOddly(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "habits")
	var got struct {
		Version, Static, Alias, Constant string
		Frozen, Same                     bool
		Answers                          []answer
	}
	p.Get(`(async (room) => {
		const made = qos('ignored', { also: 'ignored' }); // without new
		for (const name of ['sendFabricEvent', 'reportError', 'on']) made[name] = () => { throw new Error('replaced by the application'); };
		const { initialize, addNewFabric } = made; // without their object
		const static_ = qos.on('error', () => undefined);
		const answers = [initialize('demo', 'demo-secret', 'ada', null, takeStats, { disablePrecalltest: true, backendUrl: undefined }, 'ignored')];
		pair(room);
		answers.push(addNewFabric(ends[room].near, 'grace', 'data', room, null, null, 'ignored'));
		await negotiate(ends[room]);
		window.made = made;
		return { version: made.version, static: static_.status, alias: made.callStatsAPIReturnStatus.success, constant: made.fabricEvent.fabricSetup,
			frozen: Object.isFrozen(made), same: made instanceof Object && made.wrtcFuncNames === made.webRTCFunctions, answers };
	})(`+quote(p.room)+")", &got)
	require.Regexp(t, `^\d+\.\d+\.\d+$`, got.Version)
	require.Equal(t, []string{"success", "success", "fabricSetup"}, []string{got.Static, got.Alias, got.Constant})
	require.False(t, got.Frozen)
	require.True(t, got.Same)
	for _, one := range got.Answers {
		require.Equal(t, "success", one.Status, one.Msg)
	}
	p.sees(patience, "reported.some(({ stats }) => stats.fabricState === 'established' && stats.connectionState === 'online')")
	p.does("ends[room].near.close()")
	whole := l.keeps(t, p.room, "the end", fabricEnded)
	require.Equal(t, []map[string]any{{"reason": "closed"}}, whole.events("fabricTerminated"))
}
