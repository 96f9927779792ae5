package qoswssreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/identity/auth"
)

// Clients of an app that has few bytes left today measure every 20 s; with none left they keep their frames, none of which
// is refused for good. The next day they continue at their usual pace.
//
// spec: SRV-04, STAT-01
func TestBytesOfADay(t *testing.T) {
	full := false
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		if full {
			return errors.New("queue is full")
		}
		return nil
	}))
	apps := c.receiver.shared.apps.(*testApps)
	apps.change("demo", func(app *auth.App) { app.StatsInterval = 4 * time.Second })
	var said []heard
	s := newSession(c.receiver.shared, testOrigin, func(msg []byte) {
		var h heard
		require.NoError(t, json.Unmarshal(msg, &h))
		said = append(said, h)
	})
	t.Cleanup(s.close)
	now := time.Now()
	require.Nil(t, s.message([]byte(helloText(c.login("demo", testOrigin), 0)), now))
	require.Nil(t, s.message(fmt.Appendf(nil, fabricText, now.UnixMilli()), now))
	// answers returns what the session says to a frame.
	answers := func(seq uint64) (types []string) {
		said = nil
		now = now.Add(time.Minute)
		require.Nil(t, s.message([]byte(logText(seq)), now))
		s.flush(now)
		for _, h := range said {
			types = append(types, h.Type)
		}
		return types
	}
	cost := len(logText(1)) + messageBytes

	apps.leave(100 + 2*cost)
	require.Equal(t, []string{"ack"}, answers(1))
	require.Equal(t, []string{"ack"}, answers(1), "a repetition costs nothing")
	require.Equal(t, []string{"ack"}, answers(2))
	require.Equal(t, 100, apps.left["demo"])
	apps.leave(cost)
	require.Equal(t, []string{"slow-down", "ack"}, answers(3), "the last that there is room for")
	require.Equal(t, slowIntervalMs, said[0].StatsIntervalMs)
	require.Zero(t, said[0].RetryAfterMs)

	for range 3 {
		require.Equal(t, []string{"slow-down"}, answers(4))
		require.Equal(t, maxRetryAfter.Milliseconds(), said[0].RetryAfterMs)
		require.Zero(t, said[0].StatsIntervalMs)
	}
	require.EqualValues(t, 3, c.receiver.shared.throttles.day.refused.Load())
	require.EqualValues(t, 3, c.receiver.shared.throttles.day.admitted.Load())

	apps.leave(1000 + cost)
	full = true
	require.Equal(t, []string{"slow-down", "slow-down"}, answers(4))
	require.Equal(t, 4000, said[0].StatsIntervalMs)
	require.Equal(t, 1000+cost, apps.left["demo"], "a frame that was not stored costs nothing")
	full = false
	require.Equal(t, []string{"ack"}, answers(4))
	require.Equal(t, 1000, apps.left["demo"])
	require.Equal(t, uint64(4), s.lastAcked)

	// A client that connects learns at once that bytes are scarce.
	apps.leave(1)
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 0)
	require.Equal(t, slowIntervalMs, p.hear("welcome").StatsIntervalMs)
}
