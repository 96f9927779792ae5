package readapi

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes of our internal metrics, as metadata.yaml lists them.
var (
	reasonBusy       = metric.WithAttributes(attribute.String("reason", "busy"))
	reasonParameter  = metric.WithAttributes(attribute.String("reason", "parameter"))
	reasonStreams    = metric.WithAttributes(attribute.String("reason", "streams"))
	reasonsNotFolded = map[string]metric.MeasurementOption{
		missingTooLarge: metric.WithAttributes(attribute.String("cause", "too_large")),
		missingTooSlow:  metric.WithAttributes(attribute.String("cause", "too_slow")),
		missingFailed:   metric.WithAttributes(attribute.String("cause", "failed")),
	}
	partTimeline = metric.WithAttributes(attribute.String("part", "timeline"))
	partStreams  = metric.WithAttributes(attribute.String("part", "streams"))

	partCustomStats = metric.WithAttributes(attribute.String("part", "custom_stats"))
)
