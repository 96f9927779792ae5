package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// spec: QUAL-01
func TestParticipantAV(t *testing.T) {
	f := func(want float64, a, v *float64) {
		t.Helper()
		got := ParticipantAV(a, v)
		require.NotNil(t, got)
		require.InDelta(t, want, *got, 1e-12)
	}
	require.Nil(t, ParticipantAV(nil, nil))
	f(4.3, new(4.3), nil)
	f(2.1, nil, new(2.1))
	f(1.15+0.17*4.3*4, new(4.3), new(4.0))
	f(1.32, new(1.0), new(1.0))
	f(5, new(4.9), new(4.9))
	f(1, new(-40.0), new(3.0))
}

func TestWorse(t *testing.T) {
	a, b := new(4.0), new(3.0)
	require.Same(t, b, Worse(a, b))
	require.Same(t, b, Worse(b, a))
	require.Same(t, a, Worse(a, nil))
	require.Same(t, a, Worse(nil, a))
	require.Nil(t, Worse(nil, nil))
}

func TestTimeMean(t *testing.T) {
	var m TimeMean
	_, ok := m.Mean()
	require.False(t, ok)
	require.Nil(t, m.Score())
	m.Add(4, 10_000)
	m.Add(1, 5_000)
	for _, nothing := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m.Add(nothing, 1000)
		m.Add(3, nothing)
	}
	require.InDelta(t, 3.0, *m.Score(), 1e-12)
}

func TestTimeMeanMergesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, left, right TimeMean
		n := rapid.IntRange(1, 20).Draw(t, "n")
		for range n {
			mos, ms := rapid.Float64Range(1, 5).Draw(t, "mos"), rapid.Float64Range(1, 60_000).Draw(t, "ms")
			one.Add(mos, ms)
			if rapid.Bool().Draw(t, "side") {
				left.Add(mos, ms)
			} else {
				right.Add(mos, ms)
			}
		}
		right.Merge(left)
		a, _ := one.Mean()
		b, _ := right.Mean()
		if math.Abs(a-b) > 1e-9 || a < 1-1e-9 || a > 5+1e-9 {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func TestPool(t *testing.T) {
	var p Pool
	_, ok := p.ShareBad()
	require.False(t, ok)
	p.Add(4.4, 60_000, 0)
	p.Add(2.0, 20_000, 15_000)
	p.Add(math.NaN(), 20_000, 20_000)
	mean, ok := p.Mean()
	require.True(t, ok)
	require.InDelta(t, (4.4*60+2*20)/80, mean, 1e-12)
	require.Equal(t, 2.0, p.Worst)
	bad, ok := p.ShareBad()
	require.True(t, ok)
	require.InDelta(t, 15.0/80, bad, 1e-12)
}
