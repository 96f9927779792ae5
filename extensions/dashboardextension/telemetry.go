package dashboardextension

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes of our internal metrics, as metadata.yaml lists them.
var (
	reasonHost      = metric.WithAttributes(attribute.String("reason", "host"))
	reasonParameter = metric.WithAttributes(attribute.String("reason", "parameter"))
	reasonStreams   = metric.WithAttributes(attribute.String("reason", "streams"))
	partTimeline    = metric.WithAttributes(attribute.String("part", "timeline"))
	partStreams     = metric.WithAttributes(attribute.String("part", "streams"))
)
