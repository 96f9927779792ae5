// Package zeros records the first data point of counters: 0. A counter of OpenTelemetry has no data
// point before it counts, and a store computes the increase to the first value only if an earlier
// data point exists: without it an alert misses the first failure of each kind.
package zeros

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Record adds 0 to counters without attributes.
func Record(ctx context.Context, counters ...metric.Int64Counter) {
	for _, counter := range counters {
		counter.Add(ctx, 0)
	}
}

// RecordEach adds 0 to a counter for each value of its one attribute.
func RecordEach[T ~string](ctx context.Context, counter metric.Int64Counter, attributeName string, values ...T) {
	for _, value := range values {
		counter.Add(ctx, 0, metric.WithAttributes(attribute.String(attributeName, string(value))))
	}
}
