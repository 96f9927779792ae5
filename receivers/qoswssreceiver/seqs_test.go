package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A seqSet holds exactly what was added, in sorted ranges that do not touch.
func TestSeqSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set seqSet
		model := map[uint64]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "adds") {
			from := rapid.Uint64Range(0, 60).Draw(t, "from")
			to := from + rapid.Uint64Range(0, 8).Draw(t, "more")
			set.add(from, to)
			for n := from; n <= to; n++ {
				model[n] = true
			}
		}
		for n := range uint64(80) {
			require.Equal(t, model[n], set.has(n), "number %d in %v", n, set)
		}
		for i, r := range set {
			require.LessOrEqual(t, r.from, r.to)
			require.True(t, i == 0 || set[i-1].to+1 < r.from, "ranges touch: %v", set)
		}
	})
}

func TestTrackerHoldsTheAckAtAGap(t *testing.T) {
	tr := newTracker(5)
	require.True(t, tr.seen(5))
	require.False(t, tr.seen(6))
	tr.pending.add(6, 6)
	tr.pending.add(8, 9)
	require.True(t, tr.seen(8))
	require.EqualValues(t, 5, tr.acked(), "what is on its way is not acknowledged")
	tr.settle()
	require.EqualValues(t, 6, tr.acked())
	tr.pending.add(7, 7)
	tr.forget()
	require.False(t, tr.seen(7), "what the pipeline could not take comes again")
	tr.taken.add(7, 7)
	require.EqualValues(t, 9, tr.acked())
}
