package chunk

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// A column of doubles is stored as what computes it and a column of the differences, in
// units in the last place, between that and the value's bits. So any form gives back
// every bit, and a good one has no differences.
//
//	doubles: form (1 byte) | what it needs | column of differences
//	bits:    nothing: the differences are from zero
//	decimal: decimals (1 byte) | column of the double times 10^decimals, rounded
//	formula: formula (1 byte) | the columns it takes (uvarint each)
//
// Scores and their inputs are computed from other measurements. Which formula holds is
// tried out, not looked up by name. A formula takes columns that are no formulas.
const (
	formBits = iota
	formDecimal
	formFormula
)

const exactLimit = 1 << 53

// scales are what clients round to.
var scales = [...]float64{1, 10, 100, 1_000, 10_000} //nolint:gochecknoglobals // a table

// formula computes a double from others. Conversions keep compilers from fusing
// operations, which would round in another way on another machine.
type formula struct {
	takes   int
	compute func(a, b, c float64) float64
}

// formulas are part of the format: their numbers never change. They are tried in this
// order.
//
//nolint:gochecknoglobals // a table
var formulas = [...]formula{
	{1, mos},
	{1, func(a, _, _ float64) float64 { return a }},
	{2, func(a, b, _ float64) float64 { return float64(a*8000) / b }},        // bytes in ms, in bit/s
	{2, func(a, b, _ float64) float64 { return float64(a*8000) / (b * 20) }}, // bytes in packets of 20 ms
	{2, func(a, b, _ float64) float64 { return a / b }},
	{2, func(a, b, _ float64) float64 { return a / (b + a) }},                        // lost of received and lost
	{2, func(a, b, _ float64) float64 { return a * 1000 / b }},                       // per second
	{3, func(a, b, c float64) float64 { return float64((a-b)*8000) / c }},            // without retransmissions
	{3, func(a, b, c float64) float64 { return (a - b) / c }},                        // audible concealment
	{3, func(a, b, c float64) float64 { return (a + b) / (c + a) }},                  // with discarded packets
	{2, func(a, b, _ float64) float64 { return a * b }},                              // pixels
	{2, func(a, b, _ float64) float64 { return float64(a/2) + b + 20 }},              // delay
	{2, func(a, b, _ float64) float64 { return float64(a/2) + b + 20 + 6.5 }},        // delay with look-ahead
	{2, func(a, b, _ float64) float64 { return float64(a/2) + float64(2*b) + 20 }},   // and a buffer that is assumed
	{2, func(a, b, _ float64) float64 { return float64(a/2) + float64(2*b) + 26.5 }}, // both
}

// mos is ITU-T G.107 Annex B.
func mos(r, _, _ float64) float64 {
	r = max(0, min(100, r))
	line := 1 + float64(0.035*r)
	cubic := float64(float64(r*(r-60))*(100-r)) * 7e-6
	return max(1, line+float64(cubic))
}

// bitsOf returns the bits of a computed double. NaN has many forms, and which a machine
// computes is its own choice.
func bitsOf(v float64) int64 {
	if v != v {
		return 0
	}
	return int64(math.Float64bits(v))
}

// numbers is a column as formulas see it.
type numbers func(i int) float64

// appendDoubles appends values, given by their bits, in the shortest form. others are the
// columns that a formula may take, nil where there is none; taken is set for those that
// it does take.
func appendDoubles(buf []byte, values []int64, runs []int, others []numbers, taken []bool) (out []byte, isFormula bool) {
	best, exact := shortestDecimal(values, runs)
	plain := appendColumn([]byte{formBits}, values, runs)
	if len(plain) < len(best) || best == nil {
		best = plain
	}
	if exact {
		return append(buf, best...), false
	}
	if computed, args := findFormula(values, runs, others); computed != nil && len(computed) < len(best) {
		for _, a := range args {
			taken[a] = true
		}
		return append(buf, computed...), true
	}
	return append(buf, best...), false
}

// shortestDecimal tries the scales. exact says that one fits all values.
func shortestDecimal(values []int64, runs []int) (best []byte, exact bool) {
	for s, scale := range scales {
		whole, rest, exact := decimals(values, scale)
		if !exact && s < len(scales)-1 {
			continue
		}
		best = appendColumn([]byte{formDecimal, byte(s)}, whole, runs)
		return appendColumn(best, rest, runs), exact
	}
	return nil, false
}

// decimals returns the doubles times scale as integers, and what they miss.
func decimals(values []int64, scale float64) (whole, rest []int64, exact bool) {
	whole, rest, exact = make([]int64, len(values)), make([]int64, len(values)), true
	for i, v := range values {
		scaled := math.Round(math.Float64frombits(uint64(v)) * scale)
		if math.Abs(scaled) < exactLimit { // not NaN
			whole[i] = int64(scaled)
		}
		rest[i] = v - bitsOf(float64(whole[i])/scale)
		exact = exact && rest[i] == 0
	}
	return whole, rest, exact
}

// findFormula looks for a formula that holds for nearly all values. The first values that
// are no zero decide whether it is tried on the rest.
func findFormula(values []int64, runs []int, others []numbers) (found []byte, args []int) {
	at := probe(values)
	there := useful(others, at)
	for f := range formulas {
		takes := formulas[f].takes
		for a := range choices(there, takes) {
			if !holds(f, a, at, values, there) {
				continue
			}
			for i := range takes {
				a[i] = there[a[i]].column
			}
			if code := appendFormula(f, a[:takes], values, runs, others); found == nil || len(code) < len(found) {
				found, args = code, slices.Clone(a[:takes])
			}
		}
		if found != nil && len(found)*8 < len(values) { // below a bit each: no better one
			break
		}
	}
	return found, args
}

// probed is a column at the probes.
type probed struct {
	column int
	values [probes]float64
}

// useful are the columns that are not zero at all probes: with such a one, a formula comes
// to one that takes fewer.
func useful(others []numbers, at []int) (out []probed) {
	for c, of := range others {
		p := probed{column: c}
		some := false
		for i := 0; of != nil && i < len(at); i++ {
			p.values[i] = of(at[i])
			some = some || p.values[i] != 0
		}
		if some {
			out = append(out, p)
		}
	}
	return out
}

// choices are all choices of n columns.
func choices(there []probed, n int) iter.Seq[[3]int] {
	total := 1
	for range n {
		total *= len(there)
	}
	return func(yield func([3]int) bool) {
		for c := range total {
			var a [3]int
			for i, rest := 0, c; i < n; i++ {
				a[i], rest = rest%len(there), rest/len(there)
			}
			if !yield(a) {
				return
			}
		}
	}
}

// probes is how many values decide whether a formula is tried on all.
const probes = 6

// probe returns records whose values say something: zeros come of any product.
func probe(values []int64) (at []int) {
	step := max(1, len(values)/64)
	for i := 0; i < len(values) && len(at) < probes; i += step {
		if values[i] != 0 && (len(at) == 0 || values[i] != values[at[len(at)-1]]) {
			at = append(at, i)
		}
	}
	return at
}

// holds says whether a formula fits half of the probes.
func holds(f int, a [3]int, at []int, values []int64, there []probed) bool {
	fits, misses := 0, 0
	x, y, z := &there[a[0]].values, &there[a[1]].values, &there[a[2]].values
	for i, record := range at {
		d := values[record] - bitsOf(formulas[f].compute(x[i], y[i], z[i]))
		if -2 <= d && d <= 2 {
			fits++
		} else if misses++; 2*misses > len(at) {
			return false
		}
	}
	return fits > 0
}

func apply(f int, a [3]int, others []numbers, i int) float64 {
	var v [3]float64
	for k := range formulas[f].takes {
		v[k] = others[a[k]](i)
	}
	return formulas[f].compute(v[0], v[1], v[2])
}

func appendFormula(f int, args []int, values []int64, runs []int, others []numbers) []byte {
	out := []byte{formFormula, byte(f)}
	var a [3]int
	for i, arg := range args {
		a[i] = arg
		out = binary.AppendUvarint(out, uint64(arg))
	}
	rest := make([]int64, len(values))
	for i, v := range values {
		rest[i] = v - bitsOf(apply(f, a, others, i))
	}
	return appendColumn(out, rest, runs)
}

// doubles is a column of doubles that was read.
type doubles struct {
	scale   float64 // 0: rest holds the bits
	whole   column
	rest    column
	formula int // -1: none
	args    [3]int
}

// readDoubles reads n doubles. A formula may take any of the columns.
func (in *input) readDoubles(n int, runs []int, columns int) doubles {
	d := doubles{formula: -1}
	switch in.byte() {
	case formBits:
	case formDecimal:
		s := int(in.byte())
		if s >= len(scales) {
			in.fail("doubles have an unknown scale")
			return d
		}
		d.scale, d.whole = scales[s], in.column(n, runs)
	case formFormula:
		d.formula = int(in.byte())
		if d.formula >= len(formulas) {
			in.fail("doubles have an unknown formula")
			return doubles{formula: -1}
		}
		for i := range formulas[d.formula].takes {
			if d.args[i] = in.count(columns - 1); in.err != nil {
				return doubles{formula: -1}
			}
		}
	default:
		in.fail("doubles have an unknown form")
	}
	d.rest = in.column(n, runs)
	return d
}

// at returns value i of a column that is no formula.
func (d *doubles) at(i int) float64 {
	bits := d.rest.at(i)
	if d.scale != 0 {
		bits += bitsOf(float64(d.whole.at(i)) / d.scale)
	}
	return math.Float64frombits(uint64(bits))
}
