// Package timeseriesexporter turns events into aggregates of bounded cardinality (labels:
// app, media, direction and a few enumerations; never a conference or a user) and serves
// them for Prometheus and VictoriaMetrics to scrape. It skips records marked as
// duplicates and never refuses data: only the store may (docs/adr/0006).
package timeseriesexporter

//go:generate mdatagen metadata.yaml
