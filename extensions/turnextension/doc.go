// Package turnextension gives pre-call tests and calls TURN servers: one embedded in this process, servers
// outside that share a secret with it, or both. It hands out short-lived credentials; the receiver finds
// it at the host by the interface of internal/identity/turnrest.
package turnextension

//go:generate mdatagen metadata.yaml
