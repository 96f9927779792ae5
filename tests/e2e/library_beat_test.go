package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// measuresApart: eight sessions that are connected at one moment do not measure at one moment,
// and all measure as often as the collector's welcome says.
//
// spec: STAT-01, LIB-08
func measuresApart(t *testing.T, l *lab, b *browser) {
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
	p.get("({ upAt, beats })", &measured)
	p.does("ends[room].near.close()")
	var firsts []float64
	for _, beat := range measured.Beats {
		firsts = append(firsts, beat[0]-measured.UpAt)
		for i := 1; i < len(beat); i++ {
			// One that was late makes the next interval shorter; by default they are 10 s.
			require.Greater(t, beat[i]-beat[i-1], 0.4*float64(statsInterval.Milliseconds()))
			require.Less(t, beat[i]-beat[i-1], 8000.0)
		}
	}
	slices.Sort(firsts)
	t.Logf("first measurements after the connection: %.0f ms", firsts)
	require.Less(t, firsts[7], 8000.0)
	// One may have been under way when the connection came.
	require.Greater(t, firsts[7]-firsts[1], 150.0, "they lie apart")
}
