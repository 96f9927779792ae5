package seriesconnector

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/connectors/seriesconnector/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/metrics/seriescomponent"
)

// seriesConnector counts logs, and emits all series in every interval.
type seriesConnector struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	counters  seriescomponent.Counters
	next      consumer.Metrics
	series    *series.Set
	last      time.Time // of the newest data points; zero at first
	stop      context.CancelFunc
	wg        sync.WaitGroup
}

func newConnector(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder, next consumer.Metrics) *seriesConnector {
	return &seriesConnector{
		cfg: cfg, set: set, telemetry: telemetry, next: next, series: series.New(cfg.Config, time.Now()),
		counters: seriescomponent.Counters{
			Overflow: telemetry.QosseriesOverflowRecords, Displaced: telemetry.QosseriesDisplacedSeries, Dropped: telemetry.QosseriesDroppedRecords,
			Replaced: telemetry.QosseriesReplacedLabels, Untracked: telemetry.QosseriesUntrackedIssues, Idle: telemetry.QosseriesIdleSeries,
		},
	}
}

// Capabilities implements consumer.Logs.
func (*seriesConnector) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// Start implements component.Component.
func (c *seriesConnector) Start(ctx context.Context, _ component.Host) error {
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	seriescomponent.Every(ctx, &c.wg, c.cfg.Interval, c.emit)
	seriescomponent.Every(ctx, &c.wg, c.cfg.SweepInterval(), c.sweep)
	return nil
}

// Shutdown emits the last data points. It is legal before Start and twice.
func (c *seriesConnector) Shutdown(ctx context.Context) error {
	if c.stop != nil {
		c.stop()
		c.wg.Wait()
		c.emit(ctx, time.Now())
		c.stop = nil
	}
	c.telemetry.Shutdown()
	return nil
}

// ConsumeLogs never fails: what cannot be counted must not stop the store from taking it.
func (c *seriesConnector) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	c.counters.Left(ctx, c.series.Observe(logs, time.Now()))
	return nil
}

// emit emits all series. Data points that the next component refuses are lost, but no count: the
// next ones contain it.
func (c *seriesConnector) emit(ctx context.Context, now time.Time) {
	for _, metrics := range c.series.Metrics(c.set.Resource, c.last, now) {
		if err := c.next.ConsumeMetrics(ctx, metrics); err != nil {
			c.set.Logger.Warn("data points dropped: the next component refused them", zap.Error(err))
		}
	}
	c.last = now
}

func (c *seriesConnector) sweep(ctx context.Context, now time.Time) {
	c.counters.Sweep(ctx, c.series, now)
}
