package chunk

import (
	"encoding/binary"
	"fmt"

	"github.com/qosrtc/qos/storage"
)

// errBody is returned when a chunk's body cannot be decoded.
var errBody = fmt.Errorf("%w: a chunk's body cannot be read", storage.ErrDamaged)

// input reads a payload. err is the first error; after it the buffer is empty and
// every value read is zero.
type input struct {
	buf []byte
	err error
}

func (in *input) fail(why string) {
	if in.err == nil {
		in.err = fmt.Errorf("%w: %s", errBody, why)
	}
	in.buf = nil
}

func (in *input) take(n int) []byte {
	if n < 0 || n > len(in.buf) {
		in.fail("it ends too soon")
		return nil
	}
	out := in.buf[:n]
	in.buf = in.buf[n:]
	return out
}

func (in *input) byte() byte {
	if b := in.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (in *input) uvarint() uint64 {
	v, n := binary.Uvarint(in.buf)
	if n <= 0 {
		in.fail("a number makes no sense")
		return 0
	}
	in.buf = in.buf[n:]
	return v
}

func (in *input) varint() int64 {
	v, n := binary.Varint(in.buf)
	if n <= 0 {
		in.fail("a number makes no sense")
		return 0
	}
	in.buf = in.buf[n:]
	return v
}

// count reads a count of at most limit.
func (in *input) count(limit int) int {
	n := in.uvarint()
	if n > uint64(limit) {
		in.fail("it holds too much")
		return 0
	}
	return int(n)
}

// rice reads n numbers. It returns n numbers even after an error.
func (in *input) rice(n int) []uint64 {
	out := make([]uint64, n)
	if n == 0 {
		return out
	}
	k := uint(in.byte())
	if in.err != nil || k > maxK {
		in.fail("a column has an unknown width")
		return out
	}
	r := bitReader{buf: in.buf}
	for i := range out {
		out[i] = r.rice(k)
		if r.short {
			in.fail("it ends too soon")
			return out
		}
	}
	in.buf = in.buf[r.pos:]
	return out
}
