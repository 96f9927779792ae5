package detect

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const base = 1_763_702_160_000

// addition is what a test adds to a time-line.
type addition struct {
	from, to int64
	word     Word
}

func genAdditions(words int) *rapid.Generator[[]addition] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) addition {
		from := base + rapid.Int64Range(0, 200_000).Draw(t, "from")
		return addition{from, from + rapid.Int64Range(0, 30_000).Draw(t, "length"), Word(rapid.IntRange(0, words).Draw(t, "word"))}
	}), 0, 40)
}

func timelineOf(list []addition) (t Timeline) {
	for _, a := range list {
		t.Add(a.from, a.to, a.word)
	}
	return t
}

// TestTimelineIsTheUnionOfCells: any order and repetition, and any way to merge, give the
// words of each cell joined.
//
// spec: CONF-02
func TestTimelineIsTheUnionOfCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := genAdditions(7).Draw(t, "list")
		model := map[int64]Word{}
		for _, a := range list {
			for cell := int64(base)/CellMs - 1; cell < (base+240_000)/CellMs; cell++ {
				if middle := cell*CellMs + CellMs/2; a.from < middle && middle <= a.to && a.word != 0 {
					model[cell] |= a.word
				}
			}
		}
		shuffled := rapid.Permutation(append(list, list...)).Draw(t, "order")
		split := rapid.IntRange(0, len(shuffled)).Draw(t, "split")
		one, other := timelineOf(shuffled[:split]), timelineOf(shuffled[split:])
		one.Merge(&other)
		got := map[int64]Word{}
		last, before := int64(0), Word(0)
		one.Each(func(from, to int64, word Word) {
			if from < last || to <= from || from == last && word == before {
				t.Fatalf("%d to %d, %b, after %d, %b", from, to, word, last, before)
			}
			last, before = to, word
			for ; from < to; from += CellMs {
				got[from/CellMs] = word
			}
		})
		require.Equal(t, model, got)
	})
}

// TestTimelineOfAQuietCallIsOneRun: that is what makes it cheap.
func TestTimelineOfAQuietCallIsOneRun(t *testing.T) {
	var line Timeline
	for i := range int64(360) {
		jitter := (i * 7) % 13
		line.Add(base+i*10_000+jitter, base+(i+1)*10_000+(i*7+7)%13, 1)
		line.Add(base+i*10_000+jitter, base+(i+1)*10_000+(i*7+7)%13, 2) // another row of the frame
	}
	require.Len(t, line.runs, 1)
	require.Equal(t, Word(3), line.runs[0].word)
}

// TestTimelineIsBounded: it becomes coarser, and forgets nothing bad.
func TestTimelineIsBounded(t *testing.T) {
	var line Timeline
	for i := range int64(20_000) {
		line.AddFacts(base+i*10_000, base+(i+1)*10_000, Word(1+i%2))
		require.LessOrEqual(t, len(line.runs), maxRuns)
	}
	require.Positive(t, line.shift)
	require.Equal(t, Word(3), line.Any())
	var from, to int64
	line.Each(func(a, b int64, _ Word) {
		if from == 0 {
			from = a
		}
		to = b
	})
	cell := float64(int64(CellMs) << line.shift)
	require.InDelta(t, base, from, cell)
	require.InDelta(t, base+200_000_000, to, cell)

	short := timelineOf([]addition{{base, base + 4000, 4}})
	short.Merge(&line)
	require.Equal(t, line.shift, short.shift)
	require.Equal(t, Word(7), short.Any())
}

// TestCoarseCellsRaiseNothing: where a long cell was bad in part it is neither bad nor well.
func TestCoarseCellsRaiseNothing(t *testing.T) {
	bad, well := Word(0).with(levelLoss, Breach), Word(0).with(levelLoss, Clear).with(levelRTT, Breach)
	var line Timeline
	for i := range int64(4000) {
		word := well
		if i%3 == 0 {
			word = bad
		}
		line.Add(base+i*CellMs, base+(i+1)*CellMs, word)
	}
	require.Positive(t, line.shift)
	class := func(l Level) func(Word) Class { return func(w Word) Class { return w.Class(l) } }
	require.Empty(t, line.Episodes(timing, nil, class(levelLoss)))
	require.Len(t, line.Episodes(timing, nil, class(levelRTT)), 1, "what was bad whenever it was known")
}

func TestTimelineRefusesNoTime(t *testing.T) {
	f := func(from, to int64, word Word) {
		t.Helper()
		var line Timeline
		line.Add(from, to, word)
		require.True(t, line.Empty())
	}
	f(base, base, 1)
	f(base+5000, base, 1)
	f(base, base+10_000, 0)
	f(-10_000, -5000, 1)
	f(math.MinInt64, math.MinInt64, 1)
	f(math.MaxInt64, math.MaxInt64, 1)
	var line Timeline
	line.Add(math.MinInt64, math.MaxInt64, 1) // absurd, but no panic
	require.Len(t, line.runs, 1)
}
