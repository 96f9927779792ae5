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
			require.Equal(t, !model[n], set.add(n))
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

func TestSeqSetMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b, both Identities
		for _, n := range rapid.SliceOf(rapid.Uint64Range(1, 40)).Draw(t, "numbers") {
			index := int(n % 3)
			both.Add(n, index)
			if rapid.Bool().Draw(t, "side") {
				a.Add(n, index)
			} else {
				b.Add(n, index)
			}
		}
		a.Merge(b)
		for n := range uint64(42) {
			for index := range 3 {
				require.Equal(t, both.Has(n, index), a.Has(n, index))
			}
		}
	})
}

// TestSeqSetIsBounded: a client that leaves a hole at every number costs no more than
// maxRanges, and its newest numbers are still distinguished.
func TestSeqSetIsBounded(t *testing.T) {
	var set seqSet
	for n := uint64(1); n < 4*maxRanges; n += 2 {
		require.True(t, set.add(n))
	}
	require.Len(t, set, maxRanges)
	require.False(t, set.has(4*maxRanges-2))
	require.True(t, set.has(4*maxRanges-1))
}
