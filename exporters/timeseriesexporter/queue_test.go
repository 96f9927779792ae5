package timeseriesexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// state returns the state of a queue as the exporter helper stores it.
func state(next, end uint64, inFlight ...uint64) []byte {
	b := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 70)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 2, protowire.Fixed64Type), 7000)
	if next != 0 {
		b = protowire.AppendFixed64(protowire.AppendTag(b, queueReadIndex, protowire.Fixed64Type), next)
	}
	b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), end)
	var list []byte
	for _, index := range inFlight {
		list = protowire.AppendFixed64(list, index)
	}
	if list != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, queueDispatched, protowire.BytesType), list)
	}
	return b
}

// fields returns the numbers of a state by their field.
func fields(t *testing.T, b []byte) map[protowire.Number]uint64 {
	t.Helper()
	out := map[protowire.Number]uint64{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		require.Equal(t, protowire.Fixed64Type, kind, "field %d", number)
		v, size := protowire.ConsumeFixed64(b[n:])
		out[number], b = v, b[n+size:]
	}
	return out
}

// TestUndispatch: the requests before the next one are read again; what a queue of one consumer cannot
// have, or another version stores, remains as it is.
//
// spec: OUT-01
func TestUndispatch(t *testing.T) {
	ordered, ok := undispatch(state(8, 12, 7))
	require.True(t, ok)
	require.Equal(t, map[protowire.Number]uint64{1: 70, 2: 7000, 3: 7, 4: 12}, fields(t, ordered))
	ordered, ok = undispatch(state(1, 1, 0)) // the first one
	require.True(t, ok)
	require.Equal(t, map[protowire.Number]uint64{1: 70, 2: 7000, 3: 0, 4: 1}, fields(t, ordered))
	ordered, ok = undispatch(state(8, 12, 7, 5, 6)) // handed out while the collector ended
	require.True(t, ok)
	require.Equal(t, map[protowire.Number]uint64{1: 70, 2: 7000, 3: 5, 4: 12}, fields(t, ordered))
	for name, other := range map[string][]byte{
		"none": nil, "empty queue": state(8, 8), "nothing in flight": state(8, 12), "a gap": state(8, 12, 5, 7), "one twice": state(8, 12, 7, 7), "a later one was sent": state(8, 12, 5, 6), "not the one before": state(8, 12, 5),
		"after it": state(8, 12, 8), "no read index": state(0, 12, 7), "cut": state(8, 12, 7)[:30], "in flight, cut": append(state(8, 12), 5<<3|2, 4, 7, 0, 0, 0),
		"a list that is not packed": protowire.AppendFixed64(protowire.AppendTag(state(8, 12), queueDispatched, protowire.Fixed64Type), 7),
		"an index of another type":  protowire.AppendVarint(protowire.AppendTag(state(0, 12, 7), queueReadIndex, protowire.VarintType), 8),
		"no message":                {0xff, 0xff, 0xff},
	} {
		_, ok := undispatch(other)
		require.False(t, ok, name)
	}
	rapid.Check(t, func(t *rapid.T) { undispatch(rapid.SliceOf(rapid.Byte()).Draw(t, "state")) })
}
