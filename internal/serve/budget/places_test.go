package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Holders who are known have shares, and those who are not may take all that is left.
//
// spec: SRV-04
func TestPlaces(t *testing.T) {
	p := NewPlaces[string](4)
	take := func(holders ...string) (taken []bool) {
		for _, one := range holders {
			taken = append(taken, p.Take(one))
		}
		return taken
	}
	require.Equal(t, []bool{true, true, true, false, true, false}, take("ann", "ann", "ann", "ann", "", ""))
	p.Leave("ann")
	p.Leave("ann")
	require.Equal(t, []bool{true, true, false}, take("ben", "", "ann"))
	all, holders := p.Taken()
	require.Equal(t, 4, all)
	require.Equal(t, 3, holders)
	p = NewPlaces[string](4)
	require.Equal(t, []bool{true, true, true, true, false}, take("", "", "", "", ""))
}
