package appsextension

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes of our internal metrics, as metadata.yaml lists them.
var (
	sourceConfiguration = metric.WithAttributes(attribute.String("source", "configuration"))
	sourceStore         = metric.WithAttributes(attribute.String("source", "store"))
)

func sourceOf(what string) metric.MeasurementOption {
	if what == troubleFiles {
		return sourceConfiguration
	}
	return sourceStore
}

// observe shows what is known, until the telemetry is shut down.
func (r *registry) observe() error {
	return errors.Join(
		r.telemetry.RegisterQosappsAppsCallback(func(_ context.Context, o metric.Int64Observer) error {
			now := r.now.Load()
			o.Observe(int64(now.declared), sourceConfiguration)
			o.Observe(int64(len(now.apps)-now.declared), sourceStore)
			return nil
		}),
		r.telemetry.RegisterQosappsUnreadableDocumentsCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(r.now.Load().unusable))
			return nil
		}),
		r.telemetry.RegisterQosappsLastUseDroppedCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(r.uses.dropped.Load())
			return nil
		}),
		r.telemetry.RegisterQosappsRefreshAgeCallback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(r.age(time.Now()).Seconds())
			return nil
		}),
	)
}

// age is for how long the store has not been read; 0 where there is none.
func (r *registry) age(now time.Time) time.Duration {
	refreshed := r.refreshed.Load()
	if refreshed == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMilli(refreshed)))
}
