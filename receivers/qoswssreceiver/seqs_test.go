package qoswssreceiver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/protocol"
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
	tr.final.add(7, 7)
	require.EqualValues(t, 9, tr.acked())
}

// A refused skip stands for all its numbers, but for none that is on its way.
func TestTrackerRefuse(t *testing.T) {
	tr := newTracker(5)
	tr.refuse(0, 0)
	tr.refuse(0, 6)
	require.EqualValues(t, 6, tr.acked(), "one frame")
	tr.refuse(7, 9)
	require.EqualValues(t, 9, tr.acked(), "a skip")
	tr.refuse(12, 10)
	require.EqualValues(t, 10, tr.acked(), "a from after the number says nothing")
	tr.pending.add(12, 13)
	tr.pending.add(15, 15)
	tr.refuse(11, 16)
	require.EqualValues(t, 11, tr.acked(), "what is on its way is not acknowledged")
	tr.forget()
	require.False(t, tr.seen(13))
	require.True(t, tr.seen(14))
	require.False(t, tr.seen(15))
	require.True(t, tr.seen(16))
}

// A skip that is refused is never sent again, so the ack must pass all its numbers.
func TestRefusedSkipDoesNotHoldTheAck(t *testing.T) {
	c := startCollector(t)
	s := welcomed(c.receiver.shared, func([]byte) {})
	now := time.Now()
	require.Nil(t, s.message([]byte(`{"type":"skip","seq":9,"from":1,"at":1,"lost":[{"fabric":44,"stats":9}]}`), now))
	s.flush(now)
	require.EqualValues(t, 9, s.seqs.acked())
}

// What was refused and what is on its way may alternate without a hole.
func TestGapsCountHolesAlone(t *testing.T) {
	tracked := newTracker(0)
	for n := uint64(1); n <= 4*protocol.MaxSeqGaps; n += 2 {
		tracked.pending.add(n, n)
		tracked.refuse(0, n+1)
	}
	require.Zero(t, tracked.gaps())
	for n := range uint64(protocol.MaxSeqGaps + 1) {
		tracked.pending.add(1000+2*n, 1000+2*n)
	}
	require.Equal(t, protocol.MaxSeqGaps+1, tracked.gaps())
}
