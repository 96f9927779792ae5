package auth

import (
	"encoding/binary"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// scramState is what the second POST of a handshake needs of the first.
type scramState struct {
	appID       string
	user        protocol.UserID
	origin      string
	clientFirst string
	nonce       string // the server's part; names the state too
	at          time.Time
}

// fields lists the texts of a state, in the order in which they are written.
func (s *scramState) fields() []*string {
	return []*string{&s.appID, &s.user.Name, &s.user.Alias, &s.origin, &s.clientFirst, &s.nonce}
}

// marshal writes the time and then each text after its length. It is no JSON, because
// escapes would make a state six times as long as its texts.
func (s *scramState) marshal() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.at.UnixMilli()))
	for _, text := range s.fields() {
		b = append(binary.AppendUvarint(b, uint64(len(*text))), *text...)
	}
	return b
}

// unmarshal reads what marshal wrote.
func (s *scramState) unmarshal(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	s.at = time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	b = b[8:]
	for _, text := range s.fields() {
		n, width := binary.Uvarint(b)
		if width <= 0 || n > uint64(len(b)-width) {
			return false
		}
		*text = string(b[width : width+int(n)])
		b = b[width+int(n):]
	}
	return len(b) == 0
}
