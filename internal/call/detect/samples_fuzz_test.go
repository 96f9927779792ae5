package detect

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// oddMeasurement draws a measurement with numbers that no browser has; those that cannot be are
// dropped from it, as wherever it is read.
func oddMeasurement(t *rapid.T) event.Measurement {
	odd := []float64{0, -1, 1, 0.5, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 1e-300}
	draw := rapid.OneOf(rapid.Float64Range(0, 1000), rapid.SampledFrom(odd), rapid.Float64())
	m := good(rapid.Bool().Draw(t, "out"), rapid.Bool().Draw(t, "video"))
	if rapid.Bool().Draw(t, "pair") {
		m.StatsType = protocol.CandidatePair
	}
	m.Screen = rapid.Bool().Draw(t, "screen")
	m.RID = rapid.SampledFrom([]string{"", "q"}).Draw(t, "layer")
	m.IntervalMs = draw.Draw(t, "interval")
	m.Limitation = rapid.SampledFrom([]string{"", "none", "cpu", "bandwidth", "\xff"}).Draw(t, "limitation")
	for _, k := range rapid.SliceOfN(rapid.IntRange(0, int(protocol.NumMeasures)-1), 0, 6).Draw(t, "which") {
		m.Put(protocol.Measure(k), event.Value{V: draw.Draw(t, "value"), Known: rapid.IntRange(0, 3).Draw(t, "known") > 0})
	}
	m.DropOutOfRange()
	return m
}

// oddSamples holds what may come against what must stand: values are numbers, a time-line is
// bounded and the same whatever the order, and episodes have an order and lie in it.
func oddSamples(t *rapid.T) {
	rules := NewRules(DefaultConfig())
	var list []addition
	for range rapid.IntRange(1, 40).Draw(t, "samples") {
		s := oddMeasurement(t)
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
