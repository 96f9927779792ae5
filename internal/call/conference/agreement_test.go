package conference

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/detect"
)

// drawSpans draws spans, which are ascending and disjoint.
func drawSpans(t *rapid.T, name string) []detect.Span {
	from := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 8).Draw(t, name)
	spans := make([]detect.Span, len(from))
	for i, ms := range from {
		spans[i] = detect.Span{FromMs: ms, ToMs: ms + rapid.Int64Range(1, 9).Draw(t, "ms")}
	}
	return detect.Merge(spans)
}

// What all others agree on is the intersection of their times.
// spec: QUAL-01
func TestAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := map[int][]detect.Span{}
		for member := range rapid.IntRange(0, 5).Draw(t, "members") {
			spans[member] = drawSpans(t, "spans")
		}
		a := agree(spans)
		for one := range len(spans) + 1 {
			var want []detect.Span
			others := 0
			for member, list := range spans {
				if member == one {
					continue
				}
				if others++; others == 1 {
					want = slices.Clone(list)
				} else {
					want = intersect(want, list)
				}
			}
			require.ElementsMatch(t, detect.Merge(want), a.except(one), "of all but %d", one)
		}
	})
}

// Coarse times contain those that they are made of, and are few.
// spec: QUAL-01
func TestCoarse(t *testing.T) {
	var spans []detect.Span
	for i := range int64(10 * maxSpans) {
		spans = append(spans, detect.Span{FromMs: 3000 * i, ToMs: 3000*i + 1 + i%2000})
	}
	got := coarsen(slices.Clone(spans))
	require.LessOrEqual(t, len(got), maxSpans)
	require.Equal(t, spans, intersect(spans, got), "all of them are within")
	require.Equal(t, spans[:maxSpans], coarsen(slices.Clone(spans[:maxSpans])), "few remain as they are")
}
