// Package qualityprocessor scores each measurement of a stream as it passes, without
// state: a thin adapter over internal/quality.
package qualityprocessor

//go:generate mdatagen metadata.yaml
