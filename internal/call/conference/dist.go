package conference

import (
	"math"
	"slices"

	"github.com/DataDog/sketches-go/ddsketch/mapping"
)

// Sums are whole multiples of 1/scale: whole numbers in a float64 add exactly up to 2^53, so
// that a sum does not depend on the order of its terms. The protocol has four decimals, and so
// has scale.
const scale = 1e4

func scaled(v float64) float64   { return math.Round(v * scale) }
func unscaled(v float64) float64 { return v / scale }

// round4 rounds for output.
func round4(v float64) float64 { return math.Round(v*scale) / scale }

// relativeAccuracy of quantiles.
const relativeAccuracy = 0.01

// buckets maps values to the buckets of a DDSketch. The library's stores keep 8 bytes for
// every bucket of the whole range in use, some kilobytes a measure; a stream has few
// distinct values, so dist keeps only the buckets in use.
var buckets = func() *mapping.LogarithmicMapping {
	m, err := mapping.NewLogarithmicMapping(relativeAccuracy)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return m
}()

// zeroBucket contains values below minValue, which count as 0; maxValue bounds the number of
// buckets.
const (
	zeroBucket = math.MinInt16
	minValue   = 1 / scale
	maxValue   = 1e12
)

// bucket has six bytes: live calls hold thousands of buckets for one hour of a stream.
type bucket struct {
	index     int16
	high, low uint16 // of the weight, ms; at most 49 days
}

func newBucket(index int16, weightMs int64) bucket {
	w := uint32(min(weightMs, math.MaxUint32)) // cannot overflow
	return bucket{index, uint16(w >> 16), uint16(w & math.MaxUint16)}
}

func (b bucket) weight() int64 { return int64(b.high)<<16 | int64(b.low) }

// dist sums up values that are weighted by the length of their interval: mean, extremes
// and quantiles. It is a commutative monoid under merge.
type dist struct {
	sum, weight float64 // sum of value*scale*weight
	min, max    float64
	buckets     []bucket // ascending
}

func (d *dist) add(v float64, weightMs int64) {
	if weightMs <= 0 || math.IsNaN(v) {
		return
	}
	v = min(max(v, 0), maxValue)
	q := scaled(v)
	v = unscaled(q)
	if d.weight == 0 || v < d.min {
		d.min = v
	}
	if d.weight == 0 || v > d.max {
		d.max = v
	}
	d.sum += q * float64(weightMs)
	d.weight += float64(weightMs)
	index := int16(zeroBucket)
	if v >= minValue {
		index = int16(buckets.Index(v)) // a few thousand at most, because of maxValue
	}
	d.put(newBucket(index, weightMs))
}

func (d *dist) put(b bucket) {
	i, found := slices.BinarySearchFunc(d.buckets, b.index, func(have bucket, index int16) int {
		return int(have.index) - int(index)
	})
	if !found {
		d.insert(i, b)
		return
	}
	d.buckets[i] = newBucket(b.index, d.buckets[i].weight()+b.weight())
}

// insert grows the slice by an eighth instead of doubling it: its capacity stays allocated for
// the duration of the call.
func (d *dist) insert(i int, b bucket) {
	n := len(d.buckets)
	if n < cap(d.buckets) {
		d.buckets = slices.Insert(d.buckets, i, b)
		return
	}
	grown := make([]bucket, n+1, n+n/8+2)
	copy(grown, d.buckets[:i])
	grown[i] = b
	copy(grown[i+1:], d.buckets[i:])
	d.buckets = grown
}

func (d *dist) merge(o *dist) {
	if o.weight == 0 {
		return
	}
	if d.weight == 0 {
		d.min, d.max = o.min, o.max
	}
	d.min, d.max = min(d.min, o.min), max(d.max, o.max)
	d.sum += o.sum
	d.weight += o.weight
	for _, b := range o.buckets {
		d.put(b)
	}
}

func (d *dist) mean() float64 { return unscaled(d.sum / d.weight) }

// quantile returns the value below which a share q of the weight lies.
func (d *dist) quantile(q float64) float64 {
	var total float64
	for _, b := range d.buckets {
		total += float64(b.weight())
	}
	rank, seen := q*total, 0.0
	for _, b := range d.buckets {
		seen += float64(b.weight())
		if seen >= rank {
			return d.value(b)
		}
	}
	return d.max
}

// value returns the value of a bucket, within 1 %.
func (d *dist) value(b bucket) float64 {
	if b.index == zeroBucket {
		return d.min
	}
	return min(max(buckets.Value(int(b.index)), d.min), d.max)
}

// summary returns nil without measurements.
func (d *dist) summary() *Distribution {
	if d.weight == 0 {
		return nil
	}
	return &Distribution{
		Mean: round4(d.mean()), Min: d.min, Max: d.max,
		P5: round4(d.quantile(0.05)), P50: round4(d.quantile(0.5)), P95: round4(d.quantile(0.95)),
	}
}
