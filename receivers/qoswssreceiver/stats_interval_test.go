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

// An application has an interval of its own, in force for new connections and for open ones;
// any other change of it leaves the pace alone.
//
// spec: STAT-01
func TestStatsIntervalOfAnApp(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	apps := c.receiver.shared.apps.(*testApps)
	every := func(d time.Duration) {
		apps.change("demo", func(app *auth.App) { app.StatsInterval = d })
	}
	every(4 * time.Second)
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 0)
	require.Equal(t, 4000, p.hear("welcome").StatsIntervalMs)
	p.announce()
	other := c.dial(testOrigin)
	other.hello(c.login("strict", testOrigin), 0)
	require.Equal(t, 10_000, other.hear("welcome").StatsIntervalMs, "the receiver's own")
	other.announce()

	for _, d := range []time.Duration{2 * time.Second, 2500 * time.Millisecond, 0} {
		apps.limit("demo", testOrigin) // changes no pace
		every(d)
		h := p.hear("slow-down")
		require.Zero(t, h.RetryAfterMs)
		want := int(d.Milliseconds())
		if d == 0 {
			want = 10_000
		}
		require.Equal(t, want, h.StatsIntervalMs)
	}
	for _, one := range []*peer{p, other} {
		one.say(logText(1))
		one.acked(1)
	}
}

// While the pipeline refuses frames, clients go on measuring every 20 s; the interval that the
// application has by then follows when it takes them again.
//
// spec: STAT-01, SRV-04
func TestStatsIntervalOfASlowedApp(t *testing.T) {
	full := true
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		if full {
			return errors.New("queue is full")
		}
		return nil
	}))
	var said []heard
	s := newSession(c.receiver.shared, testOrigin, func(msg []byte) {
		var h heard
		require.NoError(t, json.Unmarshal(msg, &h))
		said = append(said, h)
	})
	t.Cleanup(s.close)
	now := time.Now()
	require.Nil(t, s.message([]byte(helloText(c.login("demo", testOrigin), 0)), now))
	for range failuresToSlow {
		now = now.Add(time.Minute)
		require.Nil(t, s.message(fmt.Appendf(nil, fabricText, now.UnixMilli()), now))
		require.Nil(t, s.message([]byte(logText(1)), now))
		s.flush(now)
	}
	require.Equal(t, slowIntervalMs, said[len(said)-1].StatsIntervalMs)
	before := len(said)
	c.receiver.shared.apps.(*testApps).change("demo", func(app *auth.App) { app.StatsInterval = 3 * time.Second })
	c.receiver.shared.watch.checks.Add(1)
	require.Nil(t, s.recheck(now))
	require.Len(t, said, before, "it stays slow")

	full, now = false, now.Add(time.Minute)
	require.Nil(t, s.message([]byte(logText(1)), now))
	s.flush(now)
	require.Equal(t, []string{"ack", "slow-down"}, []string{said[before].Type, said[before+1].Type})
	require.Equal(t, 3000, said[before+1].StatsIntervalMs)
	require.Zero(t, said[before+1].RetryAfterMs)
}
