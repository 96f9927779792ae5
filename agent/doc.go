// Package agent makes the tokens of third-party authentication (interface document 4.3 and
// 5.2) on the side of the origin server: Handler answers POST with a JWT for the user who is
// logged in. Package keydir keeps its key; command qos-agent is the same as a process of
// its own, for origin servers that are not written in Go. docs/agent.md is the guide.
//
// It knows nothing of the collector, so that an origin server takes in no more than a JWT
// library.
package agent

import "time"

// Version is the release of the agent; library, collector and agent share one.
const Version = "0.1.0"

// What interface document 2.1 and 5.2 allow and recommend.
const (
	MaxUserIDBytes    = 256
	MaxUserNameChars  = 128 // userName and aliasName
	MinLifetime       = 5 * time.Minute
	MaxLifetime       = 10 * time.Minute
	RecommendedOffset = 8 * time.Minute // how far exp lies ahead and nbf back, unless configured otherwise
)

// Limits of a request and of a key.
const (
	MaxBodyBytes   = 4 << 10
	MaxKeyIDBytes  = 128
	MinSecretBytes = 32 // RFC 7518, 3.2: as long as the hash
)
