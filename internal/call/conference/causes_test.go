package conference

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrozen: short freezes are no fault; the limit is a tenth of a short call, and 3 % of a
// long one.
//
// spec: CONF-03
func TestFrozen(t *testing.T) {
	f := func(freezeMs float64, durationMs int64, want bool) {
		t.Helper()
		require.Equal(t, want, (&Stream{FreezeMs: freezeMs, DurationMs: durationMs}).isFrozen(0))
	}
	f(0, 0, false)
	f(600, 6000, false)
	f(601, 6000, true)
	f(601, 0, true) // as if it had been six seconds
	f(2000, 30_000, false)
	f(2001, 30_000, true)
	f(18_000, 600_000, false)
	f(18_001, 600_000, true)
	require.False(t, (&Stream{FreezeMs: 5000, DurationMs: 30_000}).isFrozen(3000))
	require.True(t, (&Stream{FreezeMs: 5001, DurationMs: 30_000}).isFrozen(3000))
}
