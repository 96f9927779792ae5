package series

import (
	"sync"

	"github.com/qosrtc/qos/internal/call/event"
)

// Values of the label relay.
const (
	relayUnknown = "unknown"
	relayNone    = "none"
)

// relayProtocols are the values of the label relay for a fabric that uses a relay.
var relayProtocols = []string{"udp", "tcp", "tls"}

// relayOf returns the label relay of this end of a fabric, by the data of its event.
func relayOf(d *event.Data) string {
	switch {
	case contains(relayProtocols, d.RelayProtocol):
		return intern(relayProtocols, d.RelayProtocol)
	case d.LocalCandidateType != "" && d.LocalCandidateType != "relay":
		return relayNone
	}
	return relayUnknown
}

// maxRelays bounds a generation of relays.
const maxRelays = 50_000

// relays holds the relays of fabrics by span ID, in two generations: a full one replaces the old one,
// and an element that is used is copied to the recent one. So the least recently used are dropped.
type relays struct {
	mu          sync.Mutex
	recent, old map[[8]byte]string
}

func (r *relays) get(span [8]byte) string {
	if span == [8]byte{} {
		return relayUnknown
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if relay, ok := r.recent[span]; ok {
		return relay
	}
	if relay, ok := r.old[span]; ok {
		r.put(span, relay)
		return relay
	}
	return relayUnknown
}

func (r *relays) set(span [8]byte, relay string) {
	if span == [8]byte{} {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(span, relay)
}

func (r *relays) put(span [8]byte, relay string) {
	if _, ok := r.recent[span]; !ok && (r.recent == nil || len(r.recent) >= maxRelays) {
		r.recent, r.old = map[[8]byte]string{}, r.recent
	}
	r.recent[span] = relay
}
