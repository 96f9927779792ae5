package chunk

import "math"

// A column of doubles is stored as what gives their bits nearly and a column of the
// differences, in units in the last place. So either form gives back every bit, and where
// all values are decimals there are no differences.
//
//	doubles: form (1 byte) | what it needs | column of differences
//	bits:    nothing: the differences are from zero
//	decimal: decimals (1 byte) | column of the double times 10^decimals, rounded
const (
	formBits = iota
	formDecimal
)

const exactLimit = 1 << 53

// scales are what clients and the quality processor round to.
var scales = [...]float64{1, 10, 100, 1_000, 10_000} //nolint:gochecknoglobals // a table

// appendDoubles appends values, given by their bits, in the shorter form.
func appendDoubles(buf []byte, values []int64, runs []int) []byte {
	best := appendColumn([]byte{formBits}, values, runs)
	if decimal := appendDecimals(values, runs); len(decimal) < len(best) {
		best = decimal
	}
	return append(buf, best...)
}

// appendDecimals takes the smallest scale that fits all values, or the largest there is.
func appendDecimals(values []int64, runs []int) []byte {
	s := 0
	whole, rest, exact := decimals(values, scales[s])
	for !exact && s < len(scales)-1 {
		s++
		whole, rest, exact = decimals(values, scales[s])
	}
	return appendColumn(appendColumn([]byte{formDecimal, byte(s)}, whole, runs), rest, runs)
}

// decimals returns the doubles times scale as integers, and what they miss.
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

// doubles is a column of doubles that was read.
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
