package qoswssreceiver

import (
	"errors"
	"io"
	"sync"

	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/protocol"
)

// bufferBytes is the size of the buffer that every message has.
const bufferBytes = 4 << 10

// buffers hold messages and bodies while they are read and decoded.
var buffers = sync.Pool{New: func() any { return new(make([]byte, bufferBytes)) }}

func newBuffer() *[]byte { return buffers.Get().(*[]byte) }

// freeBuffer keeps a buffer for another message. One that has grown is charged only when it grows, so it is not kept.
func freeBuffer(buf *[]byte) {
	if len(*buf) == bufferBytes {
		buffers.Put(buf)
	}
}

// errNoRoom refuses a message that is larger than the buffer that every message has.
var errNoRoom = errors.New("no room for a large message")

func noRoom() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeOverloaded, Message: "there is no room for large messages now"}
}

// reserve charges the buffer of a large message while it is read.
type reserve struct {
	of      interface{ owner() *budget.Account }
	account *budget.Account // that the charge is on
	n       int64
}

func (r *reserve) grow(size int) bool {
	r.giveBack()
	r.account, r.n = r.of.owner(), int64(size)
	if r.account.Take(r.n) == budget.None {
		return true
	}
	r.n = 0
	return false
}

func (r *reserve) giveBack() {
	if r.n > 0 {
		r.account.Give(r.n)
	}
	r.n = 0
}

// fill reads a message into *buf, which grows to one byte over the limit at most, if grow permits it.
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
