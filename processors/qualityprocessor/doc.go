// Package qualityprocessor scores each measurement of a stream, without state. It is a thin adapter
// over internal/call/quality.
package qualityprocessor

//go:generate mdatagen metadata.yaml
