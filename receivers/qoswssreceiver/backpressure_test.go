package qoswssreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
)

// spec: SRV-04
func TestBackPressureIsSmoothedOverTime(t *testing.T) {
	var p backPressure
	start := time.Unix(1_700_000_000, 0)
	f := func(took, at time.Duration, begins bool, smoothedMs int64) {
		t.Helper()
		require.Equal(t, begins, p.recordDelivery(took, false, start.Add(at)))
		require.Equal(t, smoothedMs, p.smoothed.Milliseconds())
	}
	require.False(t, p.slows(start))
	f(10*time.Millisecond, 0, false, 0)
	f(4900*time.Millisecond, time.Second, false, 466) // one slow call is not a slow store
	f(4900*time.Millisecond, time.Second, false, 466) // nor are others that end with it
	f(4900*time.Millisecond, 6*time.Second, true, 2210)
	f(4900*time.Millisecond, 11*time.Second, false, 3268)
	f(time.Hour, 1000*time.Second, true, 10000) // counts as 10 s
	f(0, 1010*time.Second, false, 3678)
	f(0, 1009*time.Second, false, 3678) // the clock of another connection
	f(0, 1030*time.Second, false, 497)
	require.True(t, p.slows(start.Add(1010*time.Second+calm-1)), "a while after the last slow call")
	require.False(t, p.slows(start.Add(1010*time.Second+calm)))
	f(10*time.Second, 1060*time.Second, true, 9526)
}

// spec: SRV-04
func TestBackPressureOfRefusals(t *testing.T) {
	var p backPressure
	now := time.Unix(1_700_000_000, 0)
	for _, refused := range []bool{true, true, false, true, true} {
		require.False(t, p.recordDelivery(0, refused, now))
		require.False(t, p.slows(now))
	}
	require.True(t, p.recordDelivery(0, true, now), "the third in a row")
	require.False(t, p.recordDelivery(0, true, now.Add(calm-1)), "the same refusals still")
	require.False(t, p.recordDelivery(0, false, now.Add(calm)))
	require.True(t, p.slows(now.Add(2*calm-2)))
	require.False(t, p.slows(now.Add(2*calm-1)))
}

// spoken is a session and the messages that it sent.
type spoken struct {
	*session
	t    *testing.T
	said []heard
	seq  uint64
}

// newSpoken returns a session that was welcomed.
func newSpoken(t *testing.T, c *collector, grant *protocol.TokenReply) *spoken {
	t.Helper()
	s := &spoken{t: t}
	s.session = newSession(c.receiver.shared, testOrigin, func(msg []byte) {
		var h heard
		require.NoError(t, json.Unmarshal(msg, &h))
		s.said = append(s.said, h)
	})
	t.Cleanup(s.close)
	require.Nil(t, s.message([]byte(helloText(grant, 0)), time.Now()))
	require.Nil(t, s.message(fmt.Appendf(nil, fabricText, time.Now().UnixMilli()), time.Now()))
	return s
}

// answers returns the messages since the last call: each type with the interval that it has.
func (s *spoken) answers() (texts []string) {
	for _, h := range s.said {
		text := h.Type
		if h.StatsIntervalMs > 0 {
			text += fmt.Sprint(" ", h.StatsIntervalMs)
		}
		texts = append(texts, text)
	}
	s.said = nil
	return texts
}

// deliver sends the next frame and returns the answers.
func (s *spoken) deliver() []string {
	s.t.Helper()
	s.seq++
	return s.again()
}

// again sends the last frame once more.
func (s *spoken) again() []string {
	s.t.Helper()
	require.Nil(s.t, s.message([]byte(logText(s.seq)), time.Now()))
	s.flush(time.Now())
	return s.answers()
}

// A store that takes 4.9 s for a commit delays acks, and makes the clients of all applications measure less often: open
// connections with their next ack, and new ones with their welcome. All frames are stored once. Clients measure as
// usual when the store has been fast for a while.
//
// spec: SRV-03, SRV-04, STAT-01
func TestASlowStoreMakesClientsMeasureLessOften(t *testing.T) {
	commit := 4900 * time.Millisecond
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		time.Sleep(commit)
		return nil
	}))
	c.receiver.shared.apps.(*testApps).change("strict", func(app *auth.App) { app.StatsInterval = 2 * time.Second })
	demo, strict := c.login("demo", testOrigin), c.login("strict", testOrigin)
	synctest.Test(t, func(t *testing.T) {
		one, other := newSpoken(t, c, demo), newSpoken(t, c, strict)
		require.Equal(t, []string{"welcome 10000"}, one.answers())
		require.Equal(t, []string{"welcome 2000"}, other.answers())
		sent := time.Now()
		require.Equal(t, []string{"ack", "slow-down 20000"}, one.deliver())
		require.Equal(t, commit, time.Since(sent))
		require.Equal(t, []string{"ack", "slow-down 20000"}, other.deliver())
		require.Equal(t, []string{"ack"}, one.deliver(), "the interval was sent")
		require.Equal(t, []string{"welcome 20000"}, newSpoken(t, c, demo).answers())

		smoothed, err := c.telemetry.GetMetric("otelcol_receiver_qoswss_delivery_time")
		require.NoError(t, err)
		require.InDelta(t, 3.774, smoothed.Data.(metricdata.Gauge[float64]).DataPoints[0].Value, 0.001)

		commit = time.Millisecond
		for range 6 { // the slow calls are forgotten, and the while is not over
			time.Sleep(6 * time.Second)
			require.Equal(t, []string{"ack"}, one.deliver())
		}
		time.Sleep(6 * time.Second)
		require.Equal(t, []string{"ack", "slow-down 10000"}, one.deliver())
		require.Equal(t, []string{"ack", "slow-down 2000"}, other.deliver())
		require.Equal(t, []string{"welcome 10000"}, newSpoken(t, c, demo).answers())
		require.Equal(t, []int64{1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2}, c.seqs())
	})
	require.EqualValues(t, 11, c.counted("receiver_qoswss_frames_accepted", ""))
	require.Zero(t, c.counted("receiver_qoswss_frames_deferred", ""))
}

// Refusals of the pipeline belong to no connection: three in a row, of any of them, slow all.
//
// spec: SRV-04
func TestRefusalsMakeAllClientsMeasureLessOften(t *testing.T) {
	full := true
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		if full {
			return errors.New("queue is full")
		}
		return nil
	}))
	grant := c.login("demo", testOrigin)
	synctest.Test(t, func(t *testing.T) {
		one, two, three := newSpoken(t, c, grant), newSpoken(t, c, grant), newSpoken(t, c, grant)
		idle := newSpoken(t, c, grant)
		for _, s := range []*spoken{one, two, three, idle} {
			require.Equal(t, []string{"welcome 10000"}, s.answers())
		}
		require.Equal(t, []string{"slow-down"}, one.deliver())
		require.Equal(t, []string{"slow-down"}, two.deliver())
		require.Equal(t, []string{"slow-down 20000"}, three.deliver())
		require.Equal(t, []string{"welcome 20000"}, newSpoken(t, c, grant).answers())
		full = false
		require.Equal(t, []string{"ack", "slow-down 20000"}, idle.deliver())

		one.adjust(time.Now())
		require.Empty(t, one.answers(), "it would end the wait")
		time.Sleep(c.receiver.timing.retry)
		require.Equal(t, []string{"ack", "slow-down 20000"}, one.again())
		time.Sleep(calm)
		require.Equal(t, []string{"ack"}, two.again(), "it has the usual interval still")
		require.Equal(t, []string{"ack", "slow-down 10000"}, three.again())
	})
}

// A POST has the interval in its welcome, and no slow-down in its answer.
//
// spec: SRV-04
func TestAPostToASlowPipelineHasTheIntervalInItsWelcome(t *testing.T) {
	c := startCollector(t)
	c.receiver.shared.pipeline.recordDelivery(maxDelivery, false, time.Now())
	grant := c.login("demo", testOrigin)
	var types []string
	_, lines := c.post("frames", testOrigin, helloText(grant, 0)+"\n"+fmt.Sprintf(fabricText, 1)+"\n"+logText(1))
	for _, line := range lines {
		types = append(types, line.Type)
	}
	require.Equal(t, []string{"welcome", "ack"}, types)
	require.Equal(t, slowIntervalMs, lines[0].StatsIntervalMs)

	c.receiver.shared.pipeline = backPressure{}
	_, lines = c.post("frames", testOrigin, helloText(grant, 1))
	require.Equal(t, 10_000, lines[0].StatsIntervalMs)
}
