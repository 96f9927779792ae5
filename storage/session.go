package storage

import (
	"encoding/hex"
	"fmt"
)

// ParseSessionID reads a Session's ID: a UUID in lower case (docs/protocol.md, section 2).
func ParseSessionID(s string) (id [16]byte, err error) {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(s) != len(form) {
		return id, fmt.Errorf("session id is %d bytes long, a UUID has %d", len(s), len(form))
	}
	var digits [32]byte
	n := 0
	for i := range len(s) {
		c := s[i]
		dash := form[i] == '-'
		digit := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if dash != (c == '-') || !dash && !digit {
			return id, fmt.Errorf("session id is no lower-case UUID at byte %d", i)
		}
		if digit {
			digits[n] = c
			n++
		}
	}
	_, err = hex.Decode(id[:], digits[:])
	return id, err
}
