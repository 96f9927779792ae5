package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// measuresApart: eight sessions that are connected at one moment do not measure at one moment,
// and all measure as often as the collector's welcome says.
//
// spec: STAT-01, LIB-08
func measuresApart(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "beat")
	p.does(`pair(room);
		window.beats = [];
		let logins = 0;
		const take = (beat) => ({ fabricState }) => fabricState === 'established' && beat.push(performance.now());
		for (let i = 0; i < 8; i++) {
			const own = new qos();
			beats.push([]);
			own.initialize('demo', 'demo-secret', 'user ' + i, () => { logins++; }, take(beats[i]), { disablePrecalltest: true });
			own.addNewFabric(ends[room].near, 'grace', 'data', room);
		}
		while (logins < 8 || frames('hello').length < 8) await wait(50);
		await wait(500);
		ends[room].near.addEventListener('connectionstatechange', () => { window.upAt ??= performance.now(); });
		await negotiate(ends[room])`)
	p.sees(patience, "beats.every(({ length }) => length > 2)")
	var measured struct {
		UpAt  float64
		Beats [][]float64
	}
	p.Get("({ upAt, beats })", &measured)
	p.does("ends[room].near.close()")
	var firsts []float64
	for _, beat := range measured.Beats {
		firsts = append(firsts, beat[0]-measured.UpAt)
		var intervals []float64
		for i := 1; i < len(beat); i++ {
			intervals = append(intervals, beat[i]-beat[i-1])
		}
		measuresEvery(t, float64(statsInterval.Milliseconds()), intervals)
	}
	slices.Sort(firsts)
	t.Logf("first measurements after the connection: %.0f ms", firsts)
	require.Less(t, firsts[0], 8000.0)
	// One may have been under way when the connection came.
	require.Greater(t, firsts[7]-firsts[1], 150.0, "they lie apart")
}

// measuresEvery: measurements have a slot of the interval each. One that is late makes the
// interval after it shorter, but not the sum of many; without a setting they are 10 s.
func measuresEvery(t *testing.T, everyMs float64, intervals []float64) {
	t.Helper()
	sum := 0.0
	for _, ms := range intervals {
		sum += ms
	}
	require.Greater(t, sum, float64(len(intervals)-1)*everyMs, "%v", intervals)
	require.Less(t, slices.Min(intervals), 8000.0, "%v", intervals)
}
