package malice

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// An application that has sent the bytes of its day is slowed, then refused, alone; also after a restart.
//
// spec: SRV-04
func TestDaysHaveAnOwner(t *testing.T) {
	t.Parallel()
	require.Eventually(t, func() bool {
		now := time.Now().UTC()
		return now.Day() == now.Add(time.Minute).Day()
	}, harness.Patience, time.Second, "the day does not end during the test")
	c := startLimited(t, "{daily_mib: 1}")
	served := honest(t, c)
	p := welcomed(t, c, attacker, "mallory", address)
	require.True(t, p.say(fabric("c")))
	text := strings.Repeat("x", protocol.MaxLogTextBytes)
	log := func(seq uint64) string {
		return fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":%q}`, seq, now(), text)
	}
	const limit, perFrame = 1 << 20, 512 // bytes
	slowed := false
	for seq, sent := uint64(1), 0; ; seq++ {
		one := log(seq)
		sent += len(one) + perFrame
		require.True(t, p.say(one))
		m, ok := p.hear()
		require.True(t, ok)
		if !slowed && sent > limit-limit/10 {
			require.Equal(t, said{Type: "slow-down", StatsIntervalMs: 20_000}, m)
			slowed = true
			m, ok = p.hear()
			require.True(t, ok)
		}
		if sent > limit {
			require.Equal(t, "slow-down", m.Type)
			require.Positive(t, m.RetryAfterMs)
			break
		}
		require.Equal(t, said{Type: "ack", Seq: seq}, m)
	}
	isServed(t, served, 1)
	require.Positive(t, metric(c, "otelcol_receiver_qoswss_throttle_decisions", `kind="day"`, `decision="refused"`))

	c.Stop()
	c.Start()
	again := welcomed(t, c, attacker, "mallory", address)
	require.True(t, again.say(fabric("c")))
	require.True(t, again.say(log(1)))
	for m, ok := again.hear(); m.RetryAfterMs == 0; m, ok = again.hear() {
		require.True(t, ok)
		require.Equal(t, "slow-down", m.Type)
	}
	isServed(t, honest(t, c), 1)
}
