// Package harness is what tests that drive the real binary share: a collector that is
// started, killed and started again on the same addresses (Collector), a client of
// docs/protocol.md that loses its connections and keeps account of every frame (Client),
// what a store holds (Stored), the account that must balance (Check) and the collector's
// own metrics (Metrics). It speaks over loopback only.
//
// It builds the collector and the token agent once a test process; QOS_COLLECTOR and QOS_AGENT name binaries to use instead.
package harness
