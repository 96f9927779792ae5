package quality

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: QUAL-01
func TestParticipantAV(t *testing.T) {
	f := func(want float64, a, v *float64) {
		t.Helper()
		got := ParticipantAV(a, v)
		require.NotNil(t, got)
		require.InDelta(t, want, *got, 1e-12)
	}
	require.Nil(t, ParticipantAV(nil, nil))
	f(4.3, new(4.3), nil)
	f(2.1, nil, new(2.1))
	f(1.15+0.17*4.3*4, new(4.3), new(4.0))
	f(1.32, new(1.0), new(1.0))
	f(5, new(4.9), new(4.9))
	f(1, new(-40.0), new(3.0))
}

func TestWorse(t *testing.T) {
	a, b := new(4.0), new(3.0)
	require.Same(t, b, Worse(a, b))
	require.Same(t, b, Worse(b, a))
	require.Same(t, a, Worse(a, nil))
	require.Same(t, a, Worse(nil, a))
	require.Nil(t, Worse(nil, nil))
}
