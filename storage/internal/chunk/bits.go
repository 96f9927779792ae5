package chunk

import "math/bits"

// Rice codes store an integer as a quotient in unary and k low bits. Their length is close to the entropy of
// noise around a centre, as measurements have it. A quotient of escape is followed by the value in
// 64 bits.
const (
	escape = 24
	maxK   = 63
)

// bitWriter appends bits to a buffer, the lowest first.
type bitWriter struct {
	buf  []byte
	held uint64
	n    uint // bits in held, below 8 between calls
}

// put appends the low n bits of v; n is at most 32.
func (w *bitWriter) put(v uint64, n uint) {
	w.held |= (v & (1<<n - 1)) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.held))
		w.held >>= 8
	}
}

func (w *bitWriter) wide(v uint64, n uint) {
	w.put(v, min(n, 32))
	if n > 32 {
		w.put(v>>32, n-32)
	}
}

// end fills the last byte.
func (w *bitWriter) end() []byte {
	if w.n > 0 {
		w.buf = append(w.buf, byte(w.held))
	}
	return w.buf
}

func (w *bitWriter) rice(v uint64, k uint) {
	q := v >> k
	if q >= escape {
		w.put(1<<escape-1, escape)
		w.wide(v, 64)
		return
	}
	w.put(1<<q-1, uint(q)+1)
	w.wide(v, k)
}

// riceBits returns the number of bits of values encoded with k.
func riceBits(values []uint64, k uint) (n uint64) {
	for _, v := range values {
		if q := v >> k; q < escape {
			n += q + 1 + uint64(k)
		} else {
			n += escape + 64
		}
	}
	return n
}

// bestK returns the k with which the code of values is shortest, and its length in bits.
func bestK(values []uint64) (k uint, n uint64) {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	mean := uint(0)
	if len(values) > 0 {
		if m := sum / float64(len(values)); m < 1<<63 {
			mean = uint(bits.Len64(uint64(m)))
		} else {
			mean = maxK
		}
	}
	n = riceBits(values, mean)
	k = mean
	for i := mean; i > 0; i-- { // outliers raise the mean, never lower it
		m := riceBits(values, i-1)
		if m > n {
			break
		}
		k, n = i-1, m
	}
	return k, n
}

func appendRice(buf []byte, values []uint64) []byte {
	if len(values) == 0 {
		return buf
	}
	k, _ := bestK(values)
	w := bitWriter{buf: append(buf, byte(k))}
	for _, v := range values {
		w.rice(v, k)
	}
	return w.end()
}

// bitReader reads the output of a bitWriter. Beyond its end it reads zeros and sets short.
type bitReader struct {
	buf   []byte
	pos   int // bytes taken into held
	held  uint64
	n     uint
	short bool
}

func (r *bitReader) fill(n uint) {
	for r.n < n {
		if r.pos < len(r.buf) {
			r.held |= uint64(r.buf[r.pos]) << r.n
			r.pos++
		} else {
			r.short = true
		}
		r.n += 8
	}
}

func (r *bitReader) get(n uint) uint64 {
	r.fill(n)
	v := r.held & (1<<n - 1)
	r.held >>= n
	r.n -= n
	return v
}

func (r *bitReader) wide(n uint) uint64 {
	v := r.get(min(n, 32))
	if n > 32 {
		v |= r.get(n-32) << 32
	}
	return v
}

func (r *bitReader) rice(k uint) uint64 {
	q := uint(0)
	for {
		r.fill(1)
		ones := min(uint(bits.TrailingZeros64(^r.held)), r.n, escape-q)
		r.held >>= ones
		r.n -= ones
		if q += ones; q == escape {
			return r.wide(64)
		}
		if r.n > 0 { // a zero ends it
			r.held >>= 1
			r.n--
			return uint64(q)<<k | r.wide(k)
		}
	}
}
