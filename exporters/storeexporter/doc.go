// Package storeexporter writes events and summaries to the store. It is the one exporter
// that may refuse: without a queue, its success means that the records are committed, and
// its error becomes back-pressure at the receiver.
package storeexporter

//go:generate mdatagen metadata.yaml
