package e2e

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/tests/browser"
)

// isForbiddenSockets: a page whose policy forbids WebSockets reports by POST.
//
// spec: INIT-05, SRV-03, LIB-07
func isForbiddenSockets(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	policy := url.Values{"policy": {"connect-src http://127.0.0.1:*"}}
	const name = "policy"
	p := &labPage{l.window(t, b, name, l.pages.url+"/lab.html?"+policy.Encode()), name + " in " + b.Kind}
	p.logsIn("{}")
	p.does("await call(room)")
	p.sees(patience, "events('fabricSetup').length === 1 && heard.init.length > 2 && heard.fabric.length > 0")
	var heard struct{ Init, Fabric [][]string }
	p.Get("heard", &heard)
	require.Equal(t, "wsChannelFailure", heard.Init[1][0])
	require.Equal(t, []string{"success", "connected"}, heard.Init[2])
	require.Equal(t, "success", heard.Fabric[0][0])
	p.does("hangUp(room); ends[room].near.close()")
	whole := l.keeps(t, p.room, "a summary", ended)
	require.Len(t, whole.events("fabricTerminated"), 1)
	require.Equal(t, conference.OutcomeSuccess, whole.Summary.Outcome)
	var errors []string
	p.Get("outcome.errors", &errors)
	require.Empty(t, errors)
}

// standsOldLibraries: arrays that make texts of themselves, as Prototype has them, and a bare
// Proxy of a PeerConnection.
//
// spec: LIB-07, LIB-08, FAB-10
func standsOldLibraries(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "old libraries")
	p.does(`Object.defineProperty(Array.prototype, 'toJSON', { configurable: true, value() { return '[' + this.join(', ') + ']'; } });
		begin('ada', { additionalIDs: { tenantID: 't1' } });
		await call(room, { media: camera(), usage: 'video' });
		window.bare = say('addNewFabric', new Proxy(ends[room].near, {}), 'grace', 'video', room + ' bare', null, hear('feedback'));
		const passing = new Proxy(ends[room].near, { get: (pc, name) => (typeof pc[name] === 'function' ? pc[name].bind(pc) : pc[name]) });
		window.passing = say('addNewFabric', passing, 'grace', 'video', room + ' passing');
		library.sendCustomEvent(ends[room].near, room, [{ name: 'lists', list: [1, 'two', [3]] }])`)
	p.sees(patience, "frames('stats').some(({ fabric, rows }) => fabric === 1 && rows.length > 1) && frames('stats').some(({ fabric, rows }) => fabric === 2 && rows.length > 1)")
	p.does("delete Array.prototype.toJSON; hangUp(room)")
	var answers struct {
		Bare, Passing answer
		Heard         [][]string
	}
	p.Get("({ bare, passing, heard: heard.feedback })", &answers)
	require.Equal(t, "failure", answers.Bare.Status)
	require.Contains(t, answers.Bare.Msg, "pc cannot be read: ")
	require.Equal(t, [][]string{{"failure", answers.Bare.Msg}}, answers.Heard)
	require.Equal(t, answer{Status: "success"}, answers.Passing)
	whole := l.keeps(t, p.room, "a summary", ended)
	require.Equal(t, []map[string]any{{"name": "lists", "list": []any{1.0, "two", []any{3.0}}}}, whole.events("customEvent"))
	require.NotEmpty(t, whole.Streams)
	require.Equal(t, 0, whole.Summary.LostMeasurements)
}
