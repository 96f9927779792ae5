// Package metrics is the room of the series that are counted from records, and of the metrics of components.
package metrics
