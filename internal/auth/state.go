package auth

import (
	"encoding/binary"
	"sync"
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

// maxUsed bounds the states that are remembered as used, in each of two generations.
const maxUsed = 1 << 16

// usedStates remembers which states were used, so that none is good twice. It forgets
// the oldest when there are more handshakes than it has room for: a handshake that was
// overheard would then be good again for the rest of its 30 s, at this collector. To
// refuse instead would let anybody shut everybody out.
type usedStates struct {
	mu        sync.Mutex
	now, old  map[string]struct{}
	since     time.Time
	forgotten uint64
}

// use reports whether the state was not used before, and marks it.
func (u *usedStates) use(nonce string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, used := u.now[nonce]; used {
		return false
	}
	if _, used := u.old[nonce]; used {
		return false
	}
	// A state that a collector with a faster clock made is good for up to twice as long.
	if expired := now.Sub(u.since) >= 2*protocol.SealedStateLifetime; u.now == nil || expired || len(u.now) == maxUsed {
		if !expired {
			u.forgotten += uint64(len(u.old))
		}
		u.old, u.now, u.since = u.now, make(map[string]struct{}), now
	}
	u.now[nonce] = struct{}{}
	return true
}
