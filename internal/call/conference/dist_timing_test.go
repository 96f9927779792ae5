package conference

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestBucketsAreSmall is a budget: an hour of a call's measures takes thousands of them.
func TestBucketsAreSmall(t *testing.T) {
	require.EqualValues(t, 6, unsafe.Sizeof(bucket{}))
	var d dist
	for i := range 1000 {
		d.add(math.Exp(float64(i*7919%1000)/100), 10_000)
	}
	require.LessOrEqual(t, cap(d.buckets), len(d.buckets)*5/4)
}

// TestBucketWeightStays: what is too heavy for a bucket stays at what it can hold, whichever
// part came first.
func TestBucketWeightStays(t *testing.T) {
	var a, b dist
	for _, ms := range []int64{math.MaxUint32 - 5, 70_000, 3} {
		a.add(7, ms)
	}
	for _, ms := range []int64{3, 70_000, math.MaxUint32 - 5} {
		b.add(7, ms)
	}
	require.EqualValues(t, math.MaxUint32, a.buckets[0].weight())
	require.Equal(t, a.buckets, b.buckets)
	a.merge(&b)
	require.EqualValues(t, math.MaxUint32, a.buckets[0].weight())
	require.EqualValues(t, 70_003, newBucket(1, 70_003).weight())
}
