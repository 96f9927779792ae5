package qoswssreceiver

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/processor/processortest"
)

// consumerComponent is a component of the collector that receives records.
type consumerComponent interface {
	component.Component
	consumer.Logs
}

// pipe puts a component before the sink of a collector. It must be called in a synctest bubble.
func (c *collector) pipe(t *testing.T, next consumerComponent) {
	t.Helper()
	require.NoError(t, next.Start(t.Context(), componenttest.NewNopHost()))
	c.receiver.shared.next = next
	t.Cleanup(func() { require.NoError(t, next.Shutdown(context.Background())) })
}

// limiter is the collector's own memory limiter, which refuses above 128 MiB more than the process has now.
func limiter(t *testing.T, next consumer.Logs) (memory consumerComponent, check time.Duration) {
	t.Helper()
	factory := memorylimiterprocessor.NewFactory()
	cfg := factory.CreateDefaultConfig().(*memorylimiterprocessor.Config)
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	cfg.CheckInterval, cfg.MinGCIntervalWhenSoftLimited, cfg.MemorySpikeLimitMiB = time.Second, 0, 1
	cfg.MemoryLimitMiB = uint32(now.Alloc>>20) + 128
	require.NoError(t, cfg.Validate())
	memory, err := factory.CreateLogs(t.Context(), processortest.NewNopSettings(factory.Type()), cfg, next)
	require.NoError(t, err)
	return memory, cfg.CheckInterval
}

// While the memory limiter refuses, the receiver acknowledges nothing and asks clients to wait, and then to measure less
// often. When memory is free again, each frame is stored once.
//
// spec: SRV-03, SRV-04
func TestTheMemoryLimiterSlowsClients(t *testing.T) {
	c := startCollector(t)
	grant := c.login("demo", testOrigin)
	synctest.Test(t, func(t *testing.T) {
		memory, check := limiter(t, c.sink)
		c.pipe(t, memory)
		s := newSpoken(t, c, grant)
		require.Equal(t, []string{"welcome 10000"}, s.answers())
		require.Equal(t, []string{"ack"}, s.deliver())

		ballast := make([]byte, 256<<20)
		time.Sleep(check + 1)
		require.Equal(t, []string{"slow-down"}, s.deliver())
		time.Sleep(c.receiver.timing.retry)
		require.Equal(t, []string{"slow-down"}, s.again())
		time.Sleep(2 * c.receiver.timing.retry)
		require.Equal(t, []string{"slow-down 20000"}, s.again())
		runtime.KeepAlive(ballast)

		time.Sleep(4 * c.receiver.timing.retry) // the limiter collects what nobody uses
		require.Equal(t, []string{"ack"}, s.again())
		time.Sleep(calm)
		require.Equal(t, []string{"ack", "slow-down 10000"}, s.deliver())
		require.Equal(t, []int64{1, 2, 3}, c.seqs())
	})
	require.EqualValues(t, 3, c.counted("receiver_qoswss_frames_accepted", ""))
	require.EqualValues(t, 3, c.counted("receiver_qoswss_frames_deferred", ""))
}

// queued is a real sending queue of two calls, one of them in the store, which commits when release is closed.
func queued(t *testing.T, next consumer.Logs, release <-chan struct{}) consumerComponent {
	t.Helper()
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.QueueSize, queue.NumConsumers = 2, 1
	set := exportertest.NewNopSettings(component.MustNewType("store"))
	e, err := exporterhelper.NewLogs(t.Context(), set, &struct{}{}, func(ctx context.Context, logs plog.Logs) error {
		<-release
		return next.ConsumeLogs(ctx, logs)
	}, exporterhelper.WithQueue(configoptional.Some(queue)), exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{}))
	require.NoError(t, err)
	return e
}

// A full sending queue slows clients until it has room. What it accepted, and what it refused and got again, is stored
// once.
//
// spec: SRV-03, SRV-04
func TestAFullSendingQueueSlowsClients(t *testing.T) {
	c := startCollector(t)
	grant := c.login("demo", testOrigin)
	synctest.Test(t, func(t *testing.T) {
		full := make(chan struct{})
		release := sync.OnceFunc(func() { close(full) })
		c.pipe(t, queued(t, c.sink, full))
		t.Cleanup(release) // before the queue is shut down
		s, other := newSpoken(t, c, grant), newSpoken(t, c, grant)
		require.Equal(t, []string{"welcome 10000"}, s.answers())
		require.Equal(t, []string{"welcome 10000"}, other.answers())
		require.Equal(t, []string{"ack"}, s.deliver()) // the store has it and does not commit
		synctest.Wait()
		require.Equal(t, []string{"ack"}, s.deliver(), "the queue has it")
		require.Equal(t, []string{"slow-down"}, s.deliver())
		require.Equal(t, []string{"slow-down"}, other.deliver())
		time.Sleep(c.receiver.timing.retry)
		require.Equal(t, []string{"slow-down 20000"}, s.again())
		require.Equal(t, []string{"slow-down 20000"}, other.again())

		release()
		time.Sleep(2 * c.receiver.timing.retry)
		require.Equal(t, []string{"ack"}, s.again())
		synctest.Wait()
		require.Equal(t, []string{"ack"}, other.again())
		time.Sleep(calm)
		require.Equal(t, []string{"ack", "slow-down 10000"}, s.deliver())
		synctest.Wait()
		require.Equal(t, []int64{1, 2, 3, 1, 4}, c.seqs())
	})
	require.EqualValues(t, 5, c.counted("receiver_qoswss_frames_accepted", ""))
	require.EqualValues(t, 4, c.counted("receiver_qoswss_frames_deferred", ""))
}
