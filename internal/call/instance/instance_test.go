package instance_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/instance"
)

func span(start, end int64) instance.Span { return instance.Span{Start: start, End: end} }

// TestJoinsUpToTheGap: exactly 30 s apart is one conference, a millisecond more is two.
//
// spec: CONF-01, CONF-02
func TestJoinsUpToTheGap(t *testing.T) {
	f := func(want bool, a, b instance.Span) {
		t.Helper()
		require.Equal(t, want, a.Joins(b))
		require.Equal(t, want, b.Joins(a), "joining is symmetric")
	}
	f(true, span(0, 10), span(5, 20))
	f(true, span(0, 100), span(20, 30))
	f(true, span(0, 10), span(10+instance.Gap, 50_000))
	f(false, span(0, 10), span(11+instance.Gap, 50_000))
	f(true, instance.At(7), instance.At(7))
	f(false, instance.At(0), instance.At(30_001))
}

func TestContainsIsWidenedByTheGap(t *testing.T) {
	s := span(100_000, 200_000)
	require.True(t, s.Contains(150_000))
	require.True(t, s.Contains(70_000))
	require.False(t, s.Contains(69_999))
	require.True(t, s.Contains(230_000))
	require.False(t, s.Contains(230_001))
}

func TestUnion(t *testing.T) {
	require.Equal(t, span(1, 9), span(1, 3).Union(span(5, 9)))
	require.Equal(t, span(1, 9), span(1, 9).Union(span(3, 4)))
}

func TestMergeAbsorbs(t *testing.T) {
	f := func(spans []instance.Span, s, want instance.Span, absorbed ...int) {
		t.Helper()
		merged, got := instance.Merge(spans, s)
		require.Equal(t, want, merged)
		require.Equal(t, absorbed, got)
	}
	f(nil, instance.At(5), instance.At(5))
	f([]instance.Span{span(0, 1)}, instance.At(60_000), instance.At(60_000))
	f([]instance.Span{span(0, 10), span(60_000, 70_000)}, instance.At(20_000), span(0, 20_000), 0)
	// The moment between two conferences makes them one.
	f([]instance.Span{span(50_000, 60_000), span(200_000, 200_000), span(0, 10)}, instance.At(25_000), span(0, 60_000), 0, 2)
}

// TestMergeIsTheSameInAnyOrder: the spans are those of the sorted moments cut at silences
// of more than the gap, whichever came first.
//
// spec: CONF-02
func TestMergeIsTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moments := rapid.SliceOfN(rapid.Int64Range(0, 400_000), 1, 30).Draw(t, "moments")
		var spans []instance.Span
		for _, ms := range moments {
			merged, absorbed := instance.Merge(spans, instance.At(ms))
			for _, i := range slices.Backward(absorbed) {
				spans = slices.Delete(spans, i, i+1)
			}
			spans = append(spans, merged)
		}
		slices.SortFunc(spans, func(a, b instance.Span) int { return cmp.Compare(a.Start, b.Start) })
		slices.Sort(moments)
		want := []instance.Span{instance.At(moments[0])}
		for _, ms := range moments[1:] {
			if last := &want[len(want)-1]; ms-last.End <= 30_000 {
				last.End = ms
			} else {
				want = append(want, instance.At(ms))
			}
		}
		require.Equal(t, want, spans)
	})
}
