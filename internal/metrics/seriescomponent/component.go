// Package seriescomponent is what the components that count series share: their periodic work, and
// the metrics of their own about what was left out.
package seriescomponent

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/metrics/zeros"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Counters are a component's own metrics.
type Counters struct {
	Overflow  metric.Int64Counter // records in overflow series, by metric
	Displaced metric.Int64Counter // series that made room for those of another app, by metric
	Dropped   metric.Int64Counter // records, by reason
	Replaced  metric.Int64Counter // records of which a label was replaced
	Untracked metric.Int64Counter // issues
	Idle      metric.Int64Counter // series that left, by metric
}

// Begin records the first data points of the counters.
func (c *Counters) Begin(ctx context.Context) {
	names := make([]string, len(semconv.Metrics))
	for i, m := range semconv.Metrics {
		names[i] = m.Name
	}
	zeros.Record(ctx, c.Untracked, c.Replaced)
	zeros.RecordEach(ctx, c.Dropped, "reason", series.Reasons[:]...)
	zeros.RecordEach(ctx, c.Displaced, metricName, names...)
	zeros.RecordEach(ctx, c.Idle, metricName, names...)
	zeros.RecordEach(ctx, c.Overflow, metricName, append(names, series.AllMetrics)...)
}

// metricName is the attribute that names a metric.
const metricName = "metric"

// Left counts what had no series of its own.
func (c *Counters) Left(ctx context.Context, left series.Left) {
	if left.Empty() {
		return
	}
	for name, n := range left.Overflow {
		c.Overflow.Add(ctx, n, ofMetric(name))
	}
	for name, n := range left.Displaced {
		c.Displaced.Add(ctx, n, ofMetric(name))
	}
	for reason, n := range left.Dropped {
		if n > 0 {
			c.Dropped.Add(ctx, n, metric.WithAttributes(attribute.String("reason", series.Reasons[reason])))
		}
	}
	if left.Replaced > 0 {
		c.Replaced.Add(ctx, left.Replaced)
	}
	if left.Untracked > 0 {
		c.Untracked.Add(ctx, left.Untracked)
	}
}

// Sweep removes the idle series of a set and counts them.
func (c *Counters) Sweep(ctx context.Context, s *series.Set, now time.Time) {
	for i, n := range s.Sweep(now) {
		if n > 0 {
			c.Idle.Add(ctx, n, ofMetric(semconv.Metrics[i].Name))
		}
	}
}

func ofMetric(name string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String(metricName, name))
}

// Every does something in every interval in a goroutine of wg, until ctx ends; never where the
// interval is not positive.
func Every(ctx context.Context, wg *sync.WaitGroup, interval time.Duration, do func(ctx context.Context, now time.Time)) {
	if interval <= 0 {
		return
	}
	wg.Go(func() {
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
