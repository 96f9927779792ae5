package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: QUAL-01
func TestLabelBoundsAreInclusive(t *testing.T) {
	f := func(mos float64, label string) {
		t.Helper()
		require.Equal(t, label, Label(mos, DefaultBounds()), "%v", mos)
	}
	f(5, Excellent)
	f(4.2, Excellent)
	f(4.1999, Good)
	f(3.8, Good)
	f(3.7999, Fair)
	f(3.2, Fair)
	f(3.1999, Poor)
	f(2.6, Poor)
	f(2.5999, Bad)
	f(1, Bad)
	f(math.NaN(), "")
}

func TestPresetBounds(t *testing.T) {
	b, ok := PresetBounds(PresetITUG107)
	require.True(t, ok)
	require.NoError(t, b.Validate())
	// The edges are MOS of R 90, 80, 70, 60, to the two decimals of the table.
	for i, r := range []float64{90, 80, 70, 60} {
		require.InDelta(t, MOS(r), b[i], 0.0061)
	}
	_, ok = PresetBounds("nobody")
	require.False(t, ok)
}

func TestBoundsValidate(t *testing.T) {
	require.NoError(t, DefaultBounds().Validate())
	_, err := NewBounds([]float64{4, 3, 2, 1.5})
	require.NoError(t, err)
	_, err = NewBounds([]float64{4, 3, 2})
	require.ErrorContains(t, err, "3 bounds given, 4 are needed")
	_, err = NewBounds([]float64{5.1, 3, 3, math.NaN()})
	require.ErrorContains(t, err, "excellent is 5.1")
	require.ErrorContains(t, err, "fair (3) must be below that of good (3)")
	require.ErrorContains(t, err, "poor is NaN")
	_, err = NewBounds([]float64{4, 3, 2, 1})
	require.ErrorContains(t, err, "poor is 1, must be above 1")
}
