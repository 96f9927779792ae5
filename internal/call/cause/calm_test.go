package cause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCalmest: the calmest other leg is found in one pass, as it is by looking at each.
func TestCalmest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var legs []*leg
		for range rapid.IntRange(0, 6).Draw(t, "legs") {
			l := &leg{byMedium: map[string]float64{}}
			if rapid.Bool().Draw(t, "has") {
				l.byMedium["audio"] = float64(rapid.IntRange(0, 3).Draw(t, "jitter"))
			}
			legs = append(legs, l)
		}
		c := leastJitterOf(legs, "audio")
		for i, l := range legs {
			want, others := math.Inf(1), 0
			for j, o := range legs {
				if v, has := o.byMedium["audio"]; has && i != j {
					want, others = min(want, v), others+1
				}
			}
			_, has := l.byMedium["audio"]
			least, known := c.except(l)
			require.Equal(t, has && others > 0, known)
			if known {
				require.InDelta(t, want, least, 0)
			}
		}
	})
}
