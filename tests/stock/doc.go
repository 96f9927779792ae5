// Package stock tests and measures the series beside components of the ecosystem that the
// distribution leaves out: the prometheus and prometheus_remote_write exporters, and the decoder of
// Prometheus. `make test-long` runs them.
package stock
