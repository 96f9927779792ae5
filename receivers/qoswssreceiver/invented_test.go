package qoswssreceiver

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// flood has handshakes of invented names from as many addresses at the gate, and returns the number that was
// admitted.
func (c *collector) flood(t *testing.T, names int) (admitted int) {
	t.Helper()
	d := c.receiver.shared
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type result struct {
		attempt
		refusal *protocol.Error
	}
	results := make(chan result)
	for i := range names {
		network := d.throttles.hash.Network(networkOf(parseHop(fmt.Sprintf("203.0.%d.%d", i/250, i%250))))
		a := d.attempt(&protocol.ScramFirst{AppID: fmt.Sprint("invented ", i)}, network)
		go func() { results <- result{a, d.throttles.begin(ctx, a, time.Now())} }()
	}
	for range names {
		r := <-results
		if r.refusal == nil {
			admitted++
			t.Cleanup(func() { d.throttles.end(r.attempt, nil, time.Now()) })
		}
	}
	return admitted
}

// Thousands of invented names from thousands of addresses, none of which ever finishes, take neither a place nor room
// from an application. They are answered as an application would be.
//
// spec: AUTH-01, SRV-04
func TestInventedNamesDoNotKeepAnAppOut(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) { cfg.Throttle.ProofsAtOnce, cfg.Throttle.ProofsWaiting = 4, 8 })
	require.Equal(t, 5000, c.flood(t, 5000))
	via.client = "198.51.100.1"
	for range 10 {
		c.loginAs("demo", "alice")
		c.loginAs("strict", "alice")
	}
	require.Zero(t, c.countedBoth("receiver_qoswss_throttle_decisions", "proof", "refused"))
}

// Whatever is at the gate, a name that does not exist waits and is refused like one that does.
//
// spec: AUTH-01, SRV-04
func TestTheGateDoesNotReportWhetherAnAppExists(t *testing.T) {
	outcomes := func(appID string, busy int, invented bool) (codes []protocol.Code) {
		c, _ := throttledCollector(t, func(cfg *Config) { cfg.Throttle.ProofsAtOnce, cfg.Throttle.ProofsWaiting = 4, 8 })
		d := c.receiver.shared
		synctest.Test(t, func(t *testing.T) {
			enter := func(appID string) *protocol.Error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				return d.throttles.begin(ctx, d.attempt(&protocol.ScramFirst{AppID: appID}, 0), time.Now())
			}
			for range busy {
				require.Nil(t, enter("strict"))
			}
			for i := range 50 {
				if invented {
					_ = enter(fmt.Sprint("invented ", i))
				}
			}
			for range 4 {
				began := time.Now()
				code := protocol.Code("admitted")
				if refusal := enter(appID); refusal != nil {
					code = refusal.Code
				}
				codes = append(codes, protocol.Code(fmt.Sprint(code, " after ", time.Since(began))))
			}
		})
		return codes
	}
	for busy, want := range map[int][]protocol.Code{
		0: {"admitted after 0s", "admitted after 0s", "throttled after 1s", "throttled after 1s"},
		2: {"admitted after 0s", "throttled after 1s", "throttled after 1s", "throttled after 1s"},
	} {
		require.Equal(t, want, outcomes("demo", busy, true))
		require.Equal(t, want, outcomes("unknown", busy, true))
		require.Equal(t, want, outcomes("unknown", busy, false))
	}
}
