package turnrest

import "time"

// Server is a TURN server with a credential for one user, as RTCIceServer has it.
type Server struct {
	// Label names the server in results of pre-call tests: 1 to 128 bytes.
	Label string
	// URLs are of the schemes turn and turns, RFC 7065; at least one.
	URLs       []string
	Username   string
	Credential string
	// Expires is when the credential ends. An allocation made before outlives it.
	Expires time.Time
}

// TestLimits are what a pre-call test keeps to at one server. Each is above 0.
type TestLimits struct {
	MaxDuration      time.Duration
	MaxBytes         int64 // sent by the test
	MaxThroughputBps int64 // bits per second
}

// Provider hands out TURN servers. The extension qosturn is one; components find it by its ID at the host.
// Its methods MUST be safe for concurrent use and MUST NOT block.
type Provider interface {
	// TestServers returns the servers for pre-call tests with credentials for the user. None: empty.
	TestServers(appID, userID string, now time.Time) []Server
	// CallServers returns ICE servers for calls, nil if call credentials are off.
	CallServers(appID, userID string, now time.Time) []Server
	// TestLimits returns the limits of pre-call tests.
	TestLimits() TestLimits
}
