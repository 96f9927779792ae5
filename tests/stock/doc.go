// Package stock tests and measures the series beside components of the ecosystem that the
// distribution leaves out: the prometheus and prometheus_remote_write exporters, and the decoder of
// Prometheus. They run apart from the others (`make stock`).
package stock
