package chunk

import (
	"encoding/binary"
	"slices"
)

// A column has one integer for each record. Records are grouped in runs, one for each stream.
//
//	column: form (1 byte) | its content
//	same:   value (varint), of all records
//	runs:   list of one value a run
//	steps:  list of the first value of each run | usual step (varint) | differences from it
//	spread: list of the median of each run | differences from it
//	list:   differences from the preceding value
//
// Differences are Rice codes of zigzag numbers, after a byte with k. Arithmetic
// wraps around, so that no value is too large.
const (
	formSame = iota
	formRuns
	formSteps
	formSpread
)

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// appendColumn appends values in the shortest form; runs are the lengths of their runs.
func appendColumn(buf []byte, values []int64, runs []int) []byte {
	if allSame(values) {
		first := int64(0)
		if len(values) > 0 {
			first = values[0]
		}
		return binary.AppendVarint(append(buf, formSame), first)
	}
	firsts, steps, usual := inSteps(values, runs)
	if usual == 0 && allZero(steps) {
		return appendList(append(buf, formRuns), firsts)
	}
	middles, spread := aroundMiddles(values, runs)
	_, a := bestK(steps)
	_, b := bestK(spread)
	if a <= b {
		return appendRice(binary.AppendVarint(appendList(append(buf, formSteps), firsts), usual), steps)
	}
	return appendRice(appendList(append(buf, formSpread), middles), spread)
}

func allSame(values []int64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

func allZero(values []uint64) bool {
	return !slices.ContainsFunc(values, func(v uint64) bool { return v != 0 })
}

// inSteps returns the first value of each run, and the differences between the steps inside runs and
// the usual one.
func inSteps(values []int64, runs []int) (firsts []int64, steps []uint64, usual int64) {
	var all []int64
	at := 0
	for _, n := range runs {
		firsts = append(firsts, values[at])
		for i := at + 1; i < at+n; i++ {
			all = append(all, values[i]-values[i-1])
		}
		at += n
	}
	usual = middle(all)
	steps = make([]uint64, len(all))
	for i, step := range all {
		steps[i] = zigzag(step - usual)
	}
	return firsts, steps, usual
}

func aroundMiddles(values []int64, runs []int) (middles []int64, spread []uint64) {
	spread = make([]uint64, 0, len(values))
	at := 0
	for _, n := range runs {
		m := middle(values[at : at+n])
		middles = append(middles, m)
		for _, v := range values[at : at+n] {
			spread = append(spread, zigzag(v-m))
		}
		at += n
	}
	return middles, spread
}

// middle returns the median, 0 without values.
func middle(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

func appendList(buf []byte, values []int64) []byte {
	steps := make([]uint64, len(values))
	last := int64(0)
	for i, v := range values {
		steps[i] = zigzag(v - last)
		last = v
	}
	return appendRice(buf, steps)
}

// column is a decoded column.
type column struct {
	values []int64 // nil: all are same
	same   int64
}

func (c *column) at(i int) int64 {
	if c.values == nil {
		return c.same
	}
	return c.values[i]
}

// column decodes a column of n records; runs are the lengths of their runs.
func (in *input) column(n int, runs []int) column {
	switch in.byte() {
	case formSame:
		return column{same: in.varint()}
	case formRuns:
		return column{values: eachRun(in.list(len(runs)), n, runs)}
	case formSteps:
		return column{values: in.steps(n, runs)}
	case formSpread:
		out := eachRun(in.list(len(runs)), n, runs)
		for i, u := range in.rice(n) {
			out[i] += unzigzag(u)
		}
		return column{values: out}
	}
	in.fail("a column has an unknown form")
	return column{}
}

func eachRun(firsts []int64, n int, runs []int) []int64 {
	out := make([]int64, 0, n)
	for i, run := range runs {
		for range run {
			out = append(out, firsts[i])
		}
	}
	return out
}

func (in *input) steps(n int, runs []int) []int64 {
	firsts, usual := in.list(len(runs)), in.varint()
	steps := in.rice(n - len(runs))
	out := make([]int64, 0, n)
	for i, run := range runs {
		v := firsts[i]
		out = append(out, v)
		for range run - 1 {
			v += usual + unzigzag(steps[0])
			steps = steps[1:]
			out = append(out, v)
		}
	}
	return out
}

func (in *input) list(n int) []int64 {
	out := make([]int64, n)
	last := int64(0)
	for i, u := range in.rice(n) {
		last += unzigzag(u)
		out[i] = last
	}
	return out
}
