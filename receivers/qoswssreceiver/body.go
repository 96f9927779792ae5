package qoswssreceiver

import (
	"errors"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// postBody is the body of a POST, charged to its address until it is closed, like a large message before its hello.
type postBody struct {
	text        []byte
	shared      *shared
	network     throttle.Key
	buf         *[]byte
	reservation reservation
	account     *budget.Account // nil: nothing is charged so far
}

// readBody reads a body of at most MaxFrameBytes. The bytes are charged to the address, which is refused before they
// are read while it is in debt. The caller must close the body.
func (d *shared) readBody(r *http.Request, network throttle.Key) (*postBody, *protocol.Error) {
	if refusal := check(d.throttles.byteLimitsOf(network), time.Now()); refusal != nil {
		return nil, refusal
	}
	b := &postBody{shared: d, network: network, buf: newBuffer()}
	b.reservation.holder = b
	n, err := fill(r.Body, b.buf, b.reservation.grow)
	d.throttles.payFor(n, network, time.Now())
	b.text = (*b.buf)[:n]
	if refusal := bodyRefusal(n, err); refusal != nil {
		b.close()
		return nil, refusal
	}
	return b, nil
}

// bodyRefusal returns the reason to refuse a body of which n bytes were read, nil if there is none.
func bodyRefusal(n int, err error) *protocol.Error {
	switch {
	case errors.Is(err, errNoRoom):
		return noRoom()
	case n > protocol.MaxFrameBytes:
		return &protocol.Error{Code: protocol.CodeFrameTooLarge, Limit: protocol.MaxFrameBytes, Message: "a body has at most 65536 bytes"}
	case err != nil:
		return &protocol.Error{Code: protocol.CodeThrottled, Message: "the body did not come whole and in time"}
	}
	return nil
}

func (b *postBody) owner() *budget.Account {
	if b.account == nil {
		b.account = b.shared.openAnonymous(b.network)
	}
	return b.account
}

// close frees the memory of the body. It may be called more than once.
func (b *postBody) close() {
	if b.buf == nil {
		return
	}
	freeBuffer(b.buf)
	b.buf, b.text = nil, nil
	if b.account != nil {
		b.account.Close()
	}
}

// byteLimitsOf returns the byte limits of an address.
func (t *throttles) byteLimitsOf(network throttle.Key) []bucket {
	return t.addressBuckets(t.bytes.endpointLimits, party{network: network})
}

// payFor charges the n bytes of a body to its address.
func (t *throttles) payFor(n int, network throttle.Key, now time.Time) {
	bill(t.byteLimitsOf(network), (n+messageBytes+kib-1)/kib, now)
}
