package frames

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortions(t *testing.T) {
	f := func(want [][]int, batches ...int) {
		t.Helper()
		var all []Prepared
		seq := int64(0)
		for i, rows := range batches {
			b := Prepared{Session: SessionID{App: string(rune('a' + i))}}
			for range rows {
				seq++
				b.Frames = append(b.Frames, Row{Seq: seq})
			}
			all = append(all, b)
		}
		var got [][]int
		next := int64(0)
		for portion := range Portions(all) {
			sizes := []int{}
			for _, b := range portion {
				sizes = append(sizes, len(b.Frames))
				for _, row := range b.Frames {
					next++
					require.Equal(t, next, row.Seq, "in order")
				}
			}
			got = append(got, sizes)
		}
		require.Equal(t, want, got)
		require.Equal(t, seq, next)
	}
	f([][]int{{}})
	f([][]int{{5, 0, 3}}, 5, 0, 3)
	f([][]int{{256}}, 256)
	f([][]int{{256}, {10}}, 256, 10)
	f([][]int{{200, 56}, {44}}, 200, 100)
	f([][]int{{1, 255}, {256}, {256}, {133, 2}}, 1, 900, 2)
}
