package storage

import (
	"fmt"

	"github.com/google/uuid"
)

// ParseSessionID parses a Session's ID: a UUID in lower case (docs/protocol.md, section 2).
func ParseSessionID(s string) (id [16]byte, err error) {
	parsed, err := uuid.Parse(s)
	if err != nil || parsed.String() != s {
		return id, fmt.Errorf("session id is no UUID in lower case, but %d bytes of another form", len(s))
	}
	return parsed, nil
}
