// Package timeseries scrapes and pushes the metrics of the exporter, and queries them back from
// Prometheus and VictoriaMetrics, which the tests start on loopback.
package timeseries
