package overview

import "math"

// Histogram counts durations in buckets of equal ratio. The zero value is empty. A quantile is within 2.5 %
// of a true value up to an hour; longer durations count as an hour.
type Histogram struct {
	Count   int64
	buckets []uint32 // up to the highest in use
}

const (
	ratio     = 1.05
	maxBucket = 309 // log(3,600,000) / log(1.05)
)

// Add counts a duration of ms milliseconds.
func (h *Histogram) Add(ms int64) {
	h.put(min(maxBucket, int(math.Log(float64(max(1, ms)))/math.Log(ratio))), 1)
}

func (h *Histogram) put(bucket int, n uint32) {
	for len(h.buckets) <= bucket {
		h.buckets = append(h.buckets, 0)
	}
	h.buckets[bucket] += n
	h.Count += int64(n)
}

// Merge adds the durations of o.
func (h *Histogram) Merge(o *Histogram) {
	for bucket, n := range o.buckets {
		if n > 0 {
			h.put(bucket, n)
		}
	}
}

// Quantile returns a quantile in ms, such as 0.95, and 0 without a duration.
func (h *Histogram) Quantile(q float64) float64 {
	rank := int64(math.Ceil(q * float64(h.Count)))
	var seen int64
	for bucket, n := range h.buckets {
		if seen += int64(n); n > 0 && seen >= rank {
			return math.Pow(ratio, float64(bucket)+0.5)
		}
	}
	return 0
}
