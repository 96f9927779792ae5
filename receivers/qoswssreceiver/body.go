package qoswssreceiver

import (
	"errors"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/protocol"
)

// postBody is the body of a POST. It is charged to the strangers of its address like a large message before its hello, until it
// is closed.
type postBody struct {
	text    []byte
	shared  *shared
	network throttle.Key
	buf     *[]byte
	room    reserve
	account *budget.Account // nil: it holds nothing so far
}

// readBody reads a body of at most MaxFrameBytes. The address pays for the bytes, and is refused before they are read
// while it owes others. A body that is returned needs a close.
func (d *shared) readBody(r *http.Request, network throttle.Key) (*postBody, *protocol.Error) {
	if refusal := check(d.may.byteLimitsOf(network), time.Now()); refusal != nil {
		return nil, refusal
	}
	b := &postBody{shared: d, network: network, buf: newBuffer()}
	b.room.of = b
	n, err := fill(r.Body, b.buf, b.room.grow)
	d.may.payFor(n, network, time.Now())
	b.text = (*b.buf)[:n]
	if refusal := refusalOf(n, err); refusal != nil {
		b.close()
		return nil, refusal
	}
	return b, nil
}

// refusalOf returns why a body is not accepted of which n bytes were read.
func refusalOf(n int, err error) *protocol.Error {
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
		b.account = b.shared.strangerOf(b.network)
	}
	return b.account
}

// close gives back what the body holds. It may be called more than once.
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

// byteLimitsOf returns the limits of bytes of an address.
func (t *throttles) byteLimitsOf(network throttle.Key) []counted {
	return t.located(t.bytes.endpointLimits, party{network: network})
}

// payFor charges the n bytes of a body to its address.
func (t *throttles) payFor(n int, network throttle.Key, now time.Time) {
	bill(t.byteLimitsOf(network), (n+messageBytes+kib-1)/kib, now)
}
