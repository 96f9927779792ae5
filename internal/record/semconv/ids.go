package semconv

import (
	"crypto/sha256"
	"strconv"
)

// TraceID returns the routing key of a conference: the first 16 bytes of
// SHA-256(appID, NUL, conferenceID). It is the same when a conferenceID is used again.
func TraceID(appID, conferenceID string) [16]byte {
	sum := sha256.Sum256([]byte(appID + "\x00" + conferenceID))
	return [16]byte(sum[:16])
}

// SpanID returns the id of a fabric: the first 8 bytes of SHA-256(session, NUL, fabric
// number in decimal).
func SpanID(session string, fabric int) [8]byte {
	sum := sha256.Sum256([]byte(session + "\x00" + strconv.Itoa(fabric)))
	return [8]byte(sum[:8])
}
