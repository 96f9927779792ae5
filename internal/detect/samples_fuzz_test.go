package detect

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/rapidfuzz"
)

// oddValue draws a number that may be none.
func oddValue(t *rapid.T, name string) Value {
	odd := []float64{0, -1, 1, 0.5, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 1e-300}
	v := rapid.OneOf(rapid.Float64Range(0, 1000), rapid.SampledFrom(odd), rapid.Float64()).Draw(t, name)
	return Value{v, rapid.IntRange(0, 3).Draw(t, name+" known") > 0}
}

func oddSample(t *rapid.T) Sample {
	s := good(rapid.Bool().Draw(t, "out"), rapid.Bool().Draw(t, "video"))
	s.Pair, s.Screen, s.Layer = rapid.Bool().Draw(t, "pair"), rapid.Bool().Draw(t, "screen"), rapid.Bool().Draw(t, "layer")
	s.IntervalMs = oddValue(t, "interval").V
	s.Limitation = rapid.SampledFrom([]string{"", "none", "cpu", "bandwidth", "\xff"}).Draw(t, "limitation")
	all := []*Value{
		&s.Packets, &s.Lost, &s.RemoteLost, &s.RemoteLossFraction, &s.JitterMs, &s.RemoteJitterMs, &s.RTTMs, &s.JitterBufferMs, &s.AudioLevel,
		&s.Samples, &s.Audible, &s.ConcealmentEvents, &s.Bytes, &s.Frames, &s.FramesDecoded, &s.FramesDropped, &s.FPS, &s.FreezeMs, &s.PauseMs,
		&s.PLIs, &s.FIRs, &s.EncodeMs, &s.DecodeMs, &s.CPULimitedMs, &s.BandwidthLimitedMs,
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 6).Draw(t, "which") {
		*all[i] = oddValue(t, "value")
	}
	return s
}

// oddSamples holds what may come against what must stand: values are numbers, a time-line is
// bounded and the same whatever the order, and episodes have an order and lie in it.
func oddSamples(t *rapid.T) {
	rules := NewRules(DefaultConfig())
	var list []addition
	for range rapid.IntRange(1, 40).Draw(t, "samples") {
		s := oddSample(t)
		reading := rules.Read(&s)
		for l := range NumLevels {
			v := reading.Values[l]
			require.GreaterOrEqual(t, v, 0.0, "%s", l.Metric()) // NaN is not
		}
		from := rapid.OneOf(rapid.Int64Range(base, base+300_000), rapid.Int64()).Draw(t, "from")
		to := from + rapid.SampledFrom([]int64{10_000, 2000, 1, 0, -5, 600_000, math.MaxInt64 / 2}).Draw(t, "length")
		word := reading.Word | FactsOf(&s)<<40&wifiAll // what a word may hold beside
		if rapid.Bool().Draw(t, "scored") {
			word = word.WithState(rapid.IntRange(0, NumStates-1).Draw(t, "state"))
		}
		list = append(list, addition{from, to, word})
	}
	one, other := timelineOf(list), timelineOf(rapid.Permutation(slices.Clone(list)).Draw(t, "order"))
	require.Equal(t, one.runs, other.runs)
	soundTimeline(t, &one)
	var two Timeline
	two.Merge(&one)
	two.Merge(&other)
	require.Equal(t, one.runs, two.runs, "what is known twice")
	for l := range NumLevels {
		class := func(w Word) Class { return w.Class(l) }
		last := int64(math.MinInt64)
		for _, e := range one.Episodes(rules.Level(l).Timing(), nil, class) {
			require.True(t, e.SinceMs >= last && e.UntilMs >= e.SinceMs, "%+v after %d", e, last)
			last = e.UntilMs
		}
	}
}

func soundTimeline(t *rapid.T, line *Timeline) {
	require.LessOrEqual(t, len(line.runs), maxRuns)
	for i, r := range line.runs {
		require.True(t, r.from < r.to && r.word != 0, "%+v", r)
		require.True(t, i == 0 || line.runs[i-1].to < r.from || line.runs[i-1].to == r.from && line.runs[i-1].word != r.word)
	}
}

// TestOddSamples: whatever is measured, what is remembered of it is sound.
func TestOddSamples(t *testing.T) { rapid.Check(t, oddSamples) }

// FuzzSamples is TestOddSamples led by what code the measurements reach.
func FuzzSamples(f *testing.F) { rapidfuzz.Run(f, oddSamples) }
