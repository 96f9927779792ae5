// Package seriesconnector counts events in aggregates of bounded cardinality (internal/metrics/series) and
// emits them as OpenTelemetry metrics, so that any exporter of metrics can take them.
package seriesconnector

//go:generate mdatagen metadata.yaml
