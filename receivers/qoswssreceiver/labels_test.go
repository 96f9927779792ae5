package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/call/rules/rulestest"
)

// The library labels by the bounds of the collector's rules, not by bounds of its own.
//
// spec: QUAL-01
func TestWelcomeHasTheBoundsOfTheRules(t *testing.T) {
	labels := quality.Bounds{4.5, 4, 3, 2}
	c := startCollector(t, func(c *collector) {
		c.host[rulestest.ID] = rulestest.Owner{Has: rules.Rules{Labels: labels}}
	})
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 0)
	require.Equal(t, labels[:], p.hear("welcome").Labels.MOS)
}
