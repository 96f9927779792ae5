// Package qoswssreceiver is the edge of qos: an HTTP(S) server that takes the frames of
// browsers over WebSocket and POST (docs/protocol.md), turns them into log records
// (docs/telemetry.md) and acknowledges them when the pipeline has them.
//
// It holds nothing that must survive it: a client that finds another collector resumes
// there, and a frame that was not acknowledged is sent again.
package qoswssreceiver

//go:generate mdatagen metadata.yaml
