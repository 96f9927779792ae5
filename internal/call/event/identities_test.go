package event

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSeqSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.Uint64Range(1, 60)).Draw(t, "numbers")
		var set seqSet
		model := map[uint64]bool{}
		for _, n := range numbers {
			require.Equal(t, model[n], set.has(n))
			set.insert(seqRange{n, n})
			model[n] = true
		}
		for n := range uint64(62) {
			require.Equal(t, model[n], set.has(n))
		}
		for i := 1; i < len(set); i++ {
			require.Greater(t, set[i].from, set[i-1].to+1, "ranges ascend and do not touch: %v", set)
		}
	})
}

// record is one record of a session.
type record struct {
	seq   uint64
	index int
}

// TestIdentities: in any order of records, and however they are divided into sets that are merged,
// a set has just what was added, and its runs are as few as they can be.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b, both Identities
		model := map[record]bool{}
		add := func(r record) {
			require.Equal(t, model[r], both.Has(r.seq, r.index))
			require.Equal(t, !model[r], both.Add(r.seq, r.index))
			model[r] = true
			if rapid.Bool().Draw(t, "side") {
				a.Add(r.seq, r.index)
			} else {
				b.Add(r.seq, r.index)
			}
		}
		for range rapid.IntRange(0, 30).Draw(t, "frames") {
			seq := rapid.Uint64Range(1, 12).Draw(t, "seq")
			if rapid.Bool().Draw(t, "whole") {
				for index := range rapid.IntRange(1, 4).Draw(t, "rows") {
					add(record{seq, index})
				}
			} else {
				add(record{seq, rapid.IntRange(0, 4).Draw(t, "index")})
			}
		}
		a.Merge(b)
		for _, set := range []*Identities{&a, &both} {
			for seq := range uint64(14) {
				for index := range 6 {
					require.Equal(t, model[record{seq, index}], set.Has(seq, index))
				}
				require.False(t, set.Has(seq, -1))
			}
			for i := 1; i < len(set.runs); i++ {
				before, r := set.runs[i-1], set.runs[i]
				require.True(t, before.to < r.from && (before.to+1 < r.from || before.rows != r.rows), "%v", set.runs)
			}
		}
	})
}

// TestIdentitiesOfWholeFrames: a frame of whatever number of records costs one run at most.
func TestIdentitiesOfWholeFrames(t *testing.T) {
	f := func(want int, rows ...int) {
		t.Helper()
		var set Identities
		for seq := range uint64(1000) {
			for index := range rows[int(seq)%len(rows)] {
				require.True(t, set.Add(seq+1, index))
			}
		}
		require.Len(t, set.runs, want)
		require.Nil(t, set.others)
		require.LessOrEqual(t, set.Bytes(), int64(2*want+4)*runBytes)
	}
	f(1, 5)
	f(1000, 512, 1)
	f(1000, 1, 2, 3)
}

// TestIdentitiesAreBounded: whatever holes a client leaves, its newest records are still
// distinguished, and a session takes no more than half a MiB.
func TestIdentitiesAreBounded(t *testing.T) {
	f := func(frames, firstRow, rows, step int) {
		t.Helper()
		var set, merged Identities
		newest := uint64(1)
		for range frames {
			newest += 2
			for index := firstRow; index < rows; index += step {
				require.True(t, set.Add(newest, index))
				require.False(t, set.Add(newest, index))
			}
		}
		merged.Merge(set)
		for _, s := range []*Identities{&set, &merged} {
			require.False(t, s.Has(newest-1, firstRow))
			require.True(t, s.Has(newest, firstRow))
			require.LessOrEqual(t, len(s.runs), maxRanges)
			require.Less(t, s.Bytes(), int64(512<<10))
		}
	}
	f(4*maxRanges, 0, 1, 1)
	f(4*maxRanges, 1, 2, 1)
	f(100, 1, 1024, 1)
	f(100, 0, 1024, 2)
}
