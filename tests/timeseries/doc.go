// Package timeseries scrapes and pushes the metrics of the exporter, and queries them back from
// Prometheus and VictoriaMetrics, each started by the test on loopback. Without these programs its
// tests are skipped, unless QOS_PROMETHEUS=required.
package timeseries
