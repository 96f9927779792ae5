// Package timeseriesexporter counts events in aggregates of bounded cardinality (internal/metrics/series)
// and serves them for Prometheus and VictoriaMetrics to scrape. It skips records marked as
// duplicates and never refuses data: only the store may (docs/adr/0006).
package timeseriesexporter

//go:generate mdatagen metadata.yaml
