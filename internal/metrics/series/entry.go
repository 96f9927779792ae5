package series

import (
	"sync"
	"time"
)

// maxLabels is the largest number of labels of a metric, and one for the conference.
const maxLabels = 8

// conferenceLabel is the index of the label of per-conference series.
const conferenceLabel = maxLabels - 1

// values are a series' label values, in the order of its metric's labels; the app is the first.
type values [maxLabels]string

// Exemplar is the newest value of a series or of one of its buckets, with the conference's trace ID.
type Exemplar struct {
	TraceID [16]byte
	Value   float64
	AtMs    int64 // since the epoch

	bucket int
}

// entry holds one series of each metric of a family.
type entry struct {
	values   values
	overflow bool
	startMs  int64 // time of its creation, since the epoch
	unused   bool  // created by table.begin, and counts nothing; table.mu guards it

	mu     sync.Mutex
	last   time.Duration // time of its newest value, since the creation of the set
	points []point
	moved  *entry // replaces this entry since it was displaced; nil: it was not
}

// point is the state of one series.
type point struct {
	value     float64  // of a counter or gauge; of a histogram the sum
	counts    []uint64 // of each bucket, not cumulative; nil: no histogram
	exemplars []Exemplar
}

func newEntry(f family, v values, overflow bool, nowMs int64) *entry {
	e := &entry{values: v, overflow: overflow, startMs: nowMs, points: make([]point, len(metrics[f]))}
	for i, m := range metrics[f] {
		if m.Bounds != nil {
			e.points[i].counts = make([]uint64, len(m.Bounds)+1)
		}
	}
	return e
}

// lock locks the entry, or the one that replaces it, and returns it.
func (e *entry) lock() *entry {
	e.mu.Lock()
	for e.moved != nil {
		next := e.moved
		e.mu.Unlock()
		next.mu.Lock()
		e = next
	}
	return e
}

func (e *entry) newest() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// moveTo makes other replace the entry. The value of a gauge is added to it; a counter or histogram
// ends, since its value would appear as an increase of the other series.
func (e *entry) moveTo(other *entry, f family) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.moved = other
	if f == famOpen {
		other.mu.Lock()
		defer other.mu.Unlock()
		other.points[0].value += e.points[0].value
		other.last = max(other.last, e.last)
	}
}

// bucketOf returns the index of a value's bucket: the first whose bound is not below the value.
func bucketOf(bounds []float64, v float64) int {
	for i, bound := range bounds {
		if v <= bound {
			return i
		}
	}
	return len(bounds)
}

// put keeps the newest exemplar of each bucket.
func (p *point) put(x *Exemplar, v float64, bucket int) {
	if x.TraceID == [16]byte{} {
		return
	}
	for i := range p.exemplars {
		if old := &p.exemplars[i]; old.bucket == bucket {
			if x.AtMs >= old.AtMs { // stores reject an older one
				*old = Exemplar{x.TraceID, v, x.AtMs, bucket}
			}
			return
		}
	}
	p.exemplars = append(p.exemplars, Exemplar{x.TraceID, v, x.AtMs, bucket})
}
