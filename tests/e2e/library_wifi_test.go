package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// asksForWifi: a handler that rejects, throws, answers nonsense or never answers costs one
// sample each time, and nothing else.
//
// spec: API-09, LIB-07
func asksForWifi(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "Wi-Fi")
	p.does(`const whole = { signal: 50, rssi: -61, timestamp: 1_700_000_000_000, interface: 'wlan0', noise: -90, addresses: ['10.1.2.3'] };
		const bad = [
			() => Promise.reject(new Error('no radio')),
			() => { throw new Error('no radio'); },
			async () => 'not JSON',
			async () => JSON.stringify({ ...whole, rssi: 'weak' }),
			() => new Promise(() => {}),
		];
		window.asked = 0;
		library.attachWifiStatsHandler(() => (bad[asked++] ?? (async () => JSON.stringify(whole)))())`)
	p.logsIn("{}")
	p.does("await call(room)")
	p.sees(patience, "asked > 7 && events('wifiStats').length > 1")
	p.does("hangUp(room)")
	whole := l.keeps(t, p.room, "the end", fabricEnded)
	samples := whole.events("wifiStats")
	var asked int
	p.Get("asked", &asked)
	require.LessOrEqual(t, len(samples), asked-5)
	require.GreaterOrEqual(t, len(samples), asked-6, "one may still be under way")
	for _, sample := range samples {
		require.Equal(t, []any{50.0, -61.0, 1_700_000_000_000.0, "wlan0", -90.0},
			[]any{sample["signal"], sample["rssi"], sample["timestamp"], sample["interface"], sample["noise"]})
	}
	var measured int
	p.Get("count("+quote(p.room)+")", &measured)
	require.GreaterOrEqual(t, measured, asked-1, "measurements go on")
}
