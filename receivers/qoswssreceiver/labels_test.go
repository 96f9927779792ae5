package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The library labels by the bounds of the configuration, not by bounds of its own.
//
// spec: QUAL-01
func TestWelcomeTellsTheBoundsOfTheConfiguration(t *testing.T) {
	bounds := []float64{4.5, 4, 3, 2}
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.LabelsMOS = bounds }))
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 0)
	require.Equal(t, bounds, p.hear("welcome").Labels.MOS)
}
