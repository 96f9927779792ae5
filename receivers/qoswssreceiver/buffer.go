package qoswssreceiver

import (
	"errors"
	"io"
	"sync"

	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/protocol"
)

// bufferBytes is the size of a buffer. It is not charged: every message has one.
const bufferBytes = 4 << 10

// buffers hold messages and bodies while they are read and decoded.
var buffers = sync.Pool{New: func() any { return new(make([]byte, bufferBytes)) }}

func newBuffer() *[]byte { return buffers.Get().(*[]byte) }

// freeBuffer reuses a buffer. A larger one is not reused, because it was charged only to the message that needed it.
func freeBuffer(buf *[]byte) {
	if len(*buf) == bufferBytes {
		buffers.Put(buf)
	}
}

// errNoRoom refuses a message that is larger than a buffer.
var errNoRoom = errors.New("no room for a large message")

func noRoom() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeOverloaded, Message: "there is no room for large messages now"}
}

// reservation charges the buffer of a large message while it is read.
type reservation struct {
	holder  interface{ owner() *budget.Account }
	account *budget.Account // to which n is charged
	n       int64
}

func (r *reservation) grow(size int) bool {
	r.giveBack()
	r.account, r.n = r.holder.owner(), int64(size)
	if r.account.Take(r.n) == budget.None {
		return true
	}
	r.n = 0
	return false
}

func (r *reservation) giveBack() {
	if r.n > 0 {
		r.account.Give(r.n)
	}
	r.n = 0
}

// fill reads a message into *buf, which grows to at most one byte over the limit if grow permits it.
func fill(r io.Reader, buf *[]byte, grow func(size int) bool) (n int, err error) {
	for {
		got, err := r.Read((*buf)[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil || n > protocol.MaxFrameBytes {
			return n, err
		}
		if n == len(*buf) {
			size := min(4*n, protocol.MaxFrameBytes+1)
			if !grow(size) {
				return n, errNoRoom
			}
			grown := make([]byte, size)
			copy(grown, *buf)
			*buf = grown
		}
	}
}
