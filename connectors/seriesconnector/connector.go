package seriesconnector

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/connectors/seriesconnector/internal/metadata"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/internal/series"
)

// seriesConnector counts logs, and emits all series in every interval.
type seriesConnector struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	next      consumer.Metrics
	series    *series.Set
	last      time.Time // of the newest data points; zero at first
	stop      context.CancelFunc
	wg        sync.WaitGroup
}

func newConnector(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder, next consumer.Metrics) *seriesConnector {
	return &seriesConnector{cfg: cfg, set: set, telemetry: telemetry, next: next, series: series.New(cfg.Config, time.Now())}
}

// Capabilities implements consumer.Logs.
func (*seriesConnector) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// Start implements component.Component.
func (c *seriesConnector) Start(ctx context.Context, _ component.Host) error {
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.every(ctx, c.cfg.Interval, c.emit)
	c.every(ctx, c.cfg.SweepInterval(), c.sweep)
	return nil
}

func (c *seriesConnector) every(ctx context.Context, interval time.Duration, do func(context.Context, time.Time)) {
	if interval <= 0 {
		return
	}
	c.wg.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				do(ctx, time.Now())
			}
		}
	})
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
	left := c.series.Observe(logs, time.Now())
	if left.Empty() {
		return nil
	}
	for name, n := range left.Overflow {
		c.telemetry.QosseriesOverflowRecords.Add(ctx, n, metric.WithAttributes(attribute.String("metric", name)))
	}
	for reason, n := range left.Dropped {
		if n > 0 {
			c.telemetry.QosseriesDroppedRecords.Add(ctx, n, metric.WithAttributes(attribute.String("reason", series.Reasons[reason])))
		}
	}
	if left.Untracked > 0 {
		c.telemetry.QosseriesUntrackedIssues.Add(ctx, left.Untracked)
	}
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
	for i, n := range c.series.Sweep(now) {
		if n > 0 {
			c.telemetry.QosseriesIdleSeries.Add(ctx, n, metric.WithAttributes(attribute.String("metric", semconv.Metrics[i].Name)))
		}
	}
}
