package chunk

import "math"

// A column of doubles is stored as an approximation of their bits and a column of the
// differences, in units of least precision (ULP). So both forms are lossless, and if
// all values are decimals all differences are 0.
//
//	doubles: form (1 byte) | its content | column of differences
//	bits:    nothing: the differences are from zero
//	decimal: decimals (1 byte) | column of the double times 10^decimals, rounded
const (
	formBits = iota
	formDecimal
)

const exactLimit = 1 << 53

// scales are the powers of ten to which clients and the quality processor round.
var scales = [...]float64{1, 10, 100, 1_000, 10_000}

// appendDoubles appends doubles, given as their bits, in the shorter form.
func appendDoubles(buf []byte, values []int64, runs []int) []byte {
	best := appendColumn([]byte{formBits}, values, runs)
	if decimal := appendDecimals(values, runs); len(decimal) < len(best) {
		best = decimal
	}
	return append(buf, best...)
}

// appendDecimals appends doubles with the smallest scale that is exact for all of them, otherwise the largest.
func appendDecimals(values []int64, runs []int) []byte {
	s := 0
	whole, rest, exact := decimals(values, scales[s])
	for !exact && s < len(scales)-1 {
		s++
		whole, rest, exact = decimals(values, scales[s])
	}
	return appendColumn(appendColumn([]byte{formDecimal, byte(s)}, whole, runs), rest, runs)
}

// decimals returns the doubles times scale as integers, and the differences of their bits.
func decimals(values []int64, scale float64) (whole, rest []int64, exact bool) {
	whole, rest, exact = make([]int64, len(values)), make([]int64, len(values)), true
	for i, v := range values {
		scaled := math.Round(math.Float64frombits(uint64(v)) * scale)
		if math.Abs(scaled) < exactLimit { // not NaN
			whole[i] = int64(scaled)
		}
		rest[i] = v - int64(math.Float64bits(float64(whole[i])/scale))
		exact = exact && rest[i] == 0
	}
	return whole, rest, exact
}

// doubles is a decoded column of doubles.
type doubles struct {
	scale float64 // 0: rest holds the bits
	whole column
	rest  column
}

// readDoubles reads n doubles.
func (in *input) readDoubles(n int, runs []int) (d doubles) {
	switch in.byte() {
	case formBits:
	case formDecimal:
		s := int(in.byte())
		if s >= len(scales) {
			in.fail("doubles have an unknown scale")
			return d
		}
		d.scale, d.whole = scales[s], in.column(n, runs)
	default:
		in.fail("doubles have an unknown form")
	}
	d.rest = in.column(n, runs)
	return d
}

// at returns value i.
func (d *doubles) at(i int) float64 {
	bits := d.rest.at(i)
	if d.scale != 0 {
		bits += int64(math.Float64bits(float64(d.whole.at(i)) / d.scale))
	}
	return math.Float64frombits(uint64(bits))
}
