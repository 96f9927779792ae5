package network

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAccessLine compares a link with its harm.
func TestAccessLine(t *testing.T) {
	up := NewLink(t, 1)
	up.loses = isRelayedData
	data := []byte{0x40, 0, 0, 1, 23}
	setUp := []byte{0x40, 0, 0, 1, 22}
	up.chance = evenly()
	up.Set(Harm{Loss: 0.05})
	for range 20 {
		lost := 0
		for i := range 500 {
			if _, passes := up.arrival(data, time.Now()); !passes && i%5 == 0 {
				lost++
			}
		}
		require.InDelta(t, 5, lost, 1, "of each hundred that are every fifth packet")
	}
	up.chance = func([]byte) float64 { return up.source.Float64() }
	up.Set(Harm{Loss: 0.2})
	lost := 0
	for range 10_000 {
		if _, passes := up.arrival(data, time.Now()); !passes {
			lost++
		}
		_, passes := up.arrival(setUp, time.Now())
		require.True(t, passes)
	}
	require.InDelta(t, 2000, lost, 120)
	up.Set(Harm{Delay: 40 * time.Millisecond, RateBps: 8e5}) // 100 bytes a ms
	begin := time.Now()
	first, _ := up.arrival(make([]byte, 1000), begin)
	second, _ := up.arrival(make([]byte, 1000), begin)
	require.Equal(t, []time.Duration{50 * time.Millisecond, 60 * time.Millisecond}, []time.Duration{first.Sub(begin), second.Sub(begin)})
}
