package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// losesItsPath cuts the only path of a call and gives it back; then the call restarts ICE and
// moves from its relay to a path of its own.
//
// spec: FAB-07, FAB-14, INIT-05, API-08
func losesItsPath(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	relay := startDarkRelay(t)
	p := l.open(t, b, "loses its path")
	p.does("library.on('error', hear('error')); library.on('error', hear('error'))")
	p.logsIn("{}")
	p.does("await call(room, { config: " + relayOnly(relay.url) + " })")
	p.sees(patience, "up(room) && count(room) > 0")
	relay.dark.Store(true)
	p.sees(patience, "states(room).at(-1) === 'disrupted'")
	relay.dark.Store(false)
	p.sees(patience, "up(room) && states(room).at(-1) === 'established'")
	p.does(`for (const pc of [ends[room].near, ends[room].far]) pc.setConfiguration({ iceTransportPolicy: 'all' });
		await negotiate(ends[room], { options: { iceRestart: true } })`)
	p.sees(patience, "events('selectedCandidatePairChange').length")
	p.does("hangUp(room)")
	p.sees(patience, "states(room).at(-1) === 'terminated'")

	var states []string
	p.Get("states("+quote(p.room)+").filter((state) => state !== 'initialising')", &states)
	require.Equal(t, []string{"established", "disrupted", "established", "terminated"}, states)
	init, errors := p.results("init", "appConnectivityError"), p.results("error", "appConnectivityError")
	require.Len(t, init, 1, "the disruption is reported once")
	require.Equal(t, [][]string{init[0], init[0]}, errors, "each callback gets it, with its message")

	whole := l.keeps(t, p.room, "the end", fabricEnded)
	starts, ends := whole.events("iceDisruptionStart"), whole.events("iceDisruptionEnd")
	require.Len(t, starts, 1)
	require.Contains(t, []any{"disconnected", "failed"}, starts[0]["iceConnectionState"])
	require.Len(t, ends, 1)
	require.Positive(t, object(ends[0]).number("durationMs"))
	require.Len(t, whole.events("iceRestart"), 1)
	require.Equal(t, "relay", whole.events("fabricSetup")[0]["localCandidateType"])
	changes := whole.events("selectedCandidatePairChange")
	require.NotEmpty(t, changes)
	last := changes[len(changes)-1]
	require.Contains(t, []any{"host", "prflx"}, last["localCandidateType"])
	require.Nil(t, last["relayProtocol"])
	require.Empty(t, whole.events("fabricSetupFailed"))
}
