package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/tests/browser"
)

// isBusy: a page that does nothing for longer than the collector waits for hello, right after
// its socket opened, loses nothing.
//
// spec: SRV-04, INIT-07
func isBusy(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "busy")
	p.does(`window.busyMs = 0;
		window.WebSocket = class extends WebSocket {
			constructor(...args) {
				super(...args);
				this.addEventListener('open', () => {
					if (busyMs) return;
					const from = performance.now();
					while (busyMs < 11_500) busyMs = performance.now() - from;
				});
			}
		}`)
	p.does(`begin('ada'); await call(room);
		for (let n = 1; n <= 20; n++) library.sendCustomEvent(ends[room].near, room, [{ name: 'said', n }])`)
	p.sees(patience, "busyMs >= 11_500 && reported.some(({ stats }) => stats.connectionState === 'online')")
	p.sees(patience, "events('fabricSetup').length === 1")
	var answered answer
	p.Get("hangUp("+quote(p.room)+")", &answered)
	require.Equal(t, answer{Status: "success"}, answered)
	whole := l.keeps(t, p.room, "a summary", ended)
	var said []float64
	for _, event := range whole.events("customEvent") {
		said = append(said, event["n"].(float64))
	}
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, said)
	for _, name := range []string{"fabricAdded", "remoteDescriptionSet", "fabricSetup", "fabricTerminated"} {
		require.Len(t, whole.events(name), 1, name)
	}
	require.Equal(t, conference.OutcomeSuccess, whole.Summary.Outcome)
	require.Equal(t, []int{0, 0}, []int{whole.Summary.LostMeasurements, whole.Summary.LostEvents})
}
