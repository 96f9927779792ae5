package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuantile(t *testing.T) {
	sorted := []int{10, 20, 30, 40}
	for q, want := range map[float64]int{0: 10, 0.24: 10, 0.25: 20, 0.5: 30, 0.99: 40, 1: 40} {
		require.Equal(t, want, Quantile(sorted, q), q)
	}
}
