// Package storeexporter writes events and summaries to the store. It is the only exporter that may
// refuse records: without a queue, success means that the records are committed, and an error
// becomes back-pressure at the receiver.
package storeexporter

//go:generate mdatagen metadata.yaml
