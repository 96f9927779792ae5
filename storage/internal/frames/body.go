package frames

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"

	"github.com/qosrtc/qos/storage"
)

// A body holds the contents of n records of one frame:
//
//	version (1 byte) | name | attributes that all records share | n times: attributes
//	attributes: count (uvarint), then count times: key, value
//	key:        uvarint of number<<3 | type; after a number of 0 the name itself follows
//	name:       uvarint of a number; after 0 the name itself follows
//	value:      by type, below
//
// Numbers are those of names.go. A text is its length (uvarint) and its bytes.
const bodyVersion = 1

// The types of values. Doubles that are decimals with at most four digits after the point, as
// clients round them, are stored as integers, all others as 8 bytes. Both are lossless.
const (
	typeText    = iota
	typeInt     // zigzag varint
	typeDouble  // IEEE 754, little endian
	typeWhole   // zigzag varint of the double
	typeDecimal // zigzag varint of the double times 10,000
	typeFalse
	typeTrue
)

const (
	typeBits     = 3
	decimalScale = 10_000
	exactLimit   = 1 << 53
)

// attributes are the attributes of one record.
type attributes = map[string]any

// encoder encodes bodies. Names without a number are written as texts.
type encoder struct{ buf []byte }

// encode appends the body of records to e.buf. It fails on a value of a type that the
// store does not keep.
func (e *encoder) encode(name string, records []attributes) error {
	e.buf = append(e.buf, bodyVersion)
	e.name(name, 0, 0)
	shared := sharedKeys(records)
	if err := e.attributes(records[0], shared, true); err != nil {
		return err
	}
	for _, r := range records {
		if err := e.attributes(r, shared, false); err != nil {
			return err
		}
	}
	return nil
}

// sharedKeys returns the keys that have the same value in all records; none if there
// is only one record.
func sharedKeys(records []attributes) map[string]bool {
	if len(records) < 2 {
		return nil
	}
	shared := make(map[string]bool, 16)
keys:
	for k, v := range records[0] {
		if !isSupported(v) || v == 0.0 { // 0 and -0 are equal but not the same
			continue
		}
		for _, r := range records[1:] {
			if w, ok := r[k]; !ok || w != v { // NaN differs from itself: never shared
				continue keys
			}
		}
		shared[k] = true
	}
	return shared
}

// isSupported reports whether the store keeps values of v's type.
func isSupported(v any) bool {
	switch v.(type) {
	case string, int64, float64, bool:
		return true
	}
	return false
}

// attributes appends the attributes of r that are in shared, or those that are not.
func (e *encoder) attributes(r attributes, shared map[string]bool, in bool) error {
	count := len(shared)
	if !in {
		count = len(r) - len(shared)
	}
	e.buf = binary.AppendUvarint(e.buf, uint64(count))
	if count == 0 {
		return nil
	}
	for k, v := range r {
		if shared[k] != in {
			continue
		}
		if err := e.attribute(k, v); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) attribute(key string, value any) error {
	switch v := value.(type) {
	case string:
		e.name(key, typeText, typeBits)
		e.text(v)
	case int64:
		e.name(key, typeInt, typeBits)
		e.buf = binary.AppendVarint(e.buf, v)
	case float64:
		e.double(key, v)
	case bool:
		t := uint64(typeFalse)
		if v {
			t = typeTrue
		}
		e.name(key, t, typeBits)
	default:
		return fmt.Errorf("attribute %q is a %T: only string, int64, float64 and bool are kept", key, value)
	}
	return nil
}

func (e *encoder) double(key string, v float64) {
	if n, ok := exactTimes(v, 1); ok {
		e.name(key, typeWhole, typeBits)
		e.buf = binary.AppendVarint(e.buf, n)
		return
	}
	if n, ok := exactTimes(v, decimalScale); ok {
		e.name(key, typeDecimal, typeBits)
		e.buf = binary.AppendVarint(e.buf, n)
		return
	}
	e.name(key, typeDouble, typeBits)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(v))
}

// exactTimes returns the integer n for which float64(n)/scale equals v, bit for bit.
func exactTimes(v, scale float64) (int64, bool) {
	scaled := math.Round(v * scale)
	if !(math.Abs(scaled) < exactLimit) { // also NaN
		return 0, false
	}
	n := int64(scaled)
	return n, math.Float64bits(float64(n)/scale) == math.Float64bits(v)
}

// name appends a name's number, shifted left for a type, and the name itself if
// it has no number.
func (e *encoder) name(name string, t uint64, bits uint) {
	number := NameNumber(name)
	e.buf = binary.AppendUvarint(e.buf, number<<bits|t)
	if number == 0 {
		e.text(name)
	}
}

func (e *encoder) text(s string) {
	e.buf = binary.AppendUvarint(e.buf, uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// ErrBody is returned when a body cannot be decoded.
var ErrBody = fmt.Errorf("%w: a frame's body cannot be read", storage.ErrDamaged)

// decoder decodes a body. After the first error, in err, all reads fail.
type decoder struct {
	buf []byte
	err error
}

// decode returns the name and the attributes of the n records of a body.
func (d *decoder) decode(n int) (name string, records []attributes, err error) {
	if len(d.buf) == 0 || d.buf[0] != bodyVersion {
		return "", nil, ErrBody
	}
	d.buf = d.buf[1:]
	name = d.name(d.uvarint())
	shared := attributes{}
	d.attributes(shared)
	for i := 0; i < n && d.err == nil; i++ {
		r := make(attributes, len(shared)+16)
		maps.Copy(r, shared)
		d.attributes(r)
		records = append(records, r)
	}
	if d.err == nil && len(d.buf) > 0 {
		d.err = ErrBody
	}
	return name, records, d.err
}

func (d *decoder) attributes(into attributes) {
	for count := d.uvarint(); count > 0 && d.err == nil; count-- {
		head := d.uvarint()
		key := d.name(head >> typeBits)
		into[key] = d.value(head & (1<<typeBits - 1))
	}
}

func (d *decoder) value(t uint64) any {
	switch t {
	case typeText:
		return d.text()
	case typeInt:
		return d.varint()
	case typeDouble:
		return d.float()
	case typeWhole:
		return float64(d.varint())
	case typeDecimal:
		return float64(d.varint()) / decimalScale
	case typeFalse, typeTrue:
		return t == typeTrue
	}
	d.err = ErrBody
	return nil
}

func (d *decoder) name(number uint64) string {
	if number == 0 {
		return d.text()
	}
	name, ok := NameOf(number)
	if !ok && d.err == nil {
		d.err = fmt.Errorf("%w: it uses name %d, which a newer version has", ErrBody, number)
	}
	return name
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.buf)) {
		d.err = ErrBody
		return ""
	}
	s := string(d.buf[:n])
	d.buf = d.buf[n:]
	return s
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.buf)
	d.advance(n)
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.buf)
	d.advance(n)
	return v
}

func (d *decoder) float() float64 {
	if len(d.buf) < 8 {
		d.advance(0)
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.buf))
	d.advance(8)
	return v
}

// advance skips n bytes; n <= 0 is an error. After an error the buffer is empty, so that every
// loop ends.
func (d *decoder) advance(n int) {
	if n <= 0 || d.err != nil {
		if d.err == nil {
			d.err = ErrBody
		}
		d.buf = nil
		return
	}
	d.buf = d.buf[n:]
}
