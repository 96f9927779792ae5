// Package qoswssreceiver is the receiver of qos: an HTTP(S) server that receives the frames of
// browsers over WebSocket and POST (docs/protocol.md), converts them to log records
// (docs/telemetry.md) and acknowledges them when the pipeline has accepted them.
//
// It has no durable state: a client may resume at another collector, and sends frames without an
// acknowledgement again.
package qoswssreceiver

//go:generate mdatagen metadata.yaml
