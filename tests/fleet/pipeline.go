package fleet

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/qosrtc/qos/processors/conferenceprocessor"
	"github.com/qosrtc/qos/processors/qualityprocessor"
)

// Run passes the day through the quality and the conference processor, whose clock is that of the
// day. consume receives their records, one batch at a time, and sample is called every interval; both with the time of
// the day.
func Run(t *testing.T, d *Day, interval time.Duration, consume func(plog.Logs, time.Time), sample func(time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var one sync.Mutex // the processor emits issues from a goroutine of its own
		next, err := consumer.NewLogs(func(_ context.Context, logs plog.Logs) error {
			one.Lock()
			defer one.Unlock()
			consume(logs, time.Now())
			return nil
		})
		require.NoError(t, err)
		quality, conf := qualityprocessor.NewFactory(), conferenceprocessor.NewFactory()
		cfg := conf.CreateDefaultConfig().(*conferenceprocessor.Config)
		cfg.Tick = 10 * time.Second // a day has 86,400 seconds
		second, err := conf.CreateLogs(t.Context(), processortest.NewNopSettings(conf.Type()), cfg, next)
		require.NoError(t, err)
		first, err := quality.CreateLogs(t.Context(), processortest.NewNopSettings(quality.Type()), quality.CreateDefaultConfig(), second)
		require.NoError(t, err)
		<-time.After(time.Until(d.Start))
		require.NoError(t, second.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, first.Start(t.Context(), componenttest.NewNopHost()))
		sampled := d.Start
		advance := func(to time.Time) {
			for ; !sampled.After(to); sampled = sampled.Add(interval) {
				<-time.After(time.Until(sampled))
				synctest.Wait()
				sample(sampled)
			}
			<-time.After(time.Until(to))
		}
		for step := range d.Steps() {
			advance(time.UnixMilli(step.AtMs))
			require.NoError(t, first.ConsumeLogs(t.Context(), Logs(&step)))
		}
		advance(d.Start.Add(24 * time.Hour))
		require.NoError(t, first.Shutdown(t.Context()))
		require.NoError(t, second.Shutdown(t.Context()))
	})
}
