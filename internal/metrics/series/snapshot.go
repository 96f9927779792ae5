package series

import (
	"slices"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// Label is a label of a series.
type Label struct{ Name, Value string }

// Point is one series at one time.
type Point struct {
	Labels    []Label // in the metric's order, without absent ones
	StartMs   int64   // time of the series' creation, since the epoch
	Value     float64 // of a counter or gauge; of a histogram the sum of its values
	Counts    []uint64
	Exemplars []Exemplar
}

// Bucket returns the index of the histogram's bucket that contains the exemplar's value.
func (x *Exemplar) Bucket() int { return x.bucket }

// Each yields all metrics that have series, in the order of semconv.Metrics, each with its
// series in the order of their labels. Counts of a histogram are not cumulative; the last bucket has no
// bound.
func (s *Set) Each(yield func(m *Metric, points []Point) bool) {
	for i := range semconv.Metrics {
		p := locations[i]
		m := metrics[p.family][p.offset]
		if points := s.points(p, m); len(points) > 0 && !yield(m, points) {
			return
		}
	}
}

func (s *Set) points(p location, m *Metric) []Point {
	entries := s.entries(p.family)
	points := make([]Point, len(entries))
	for i, e := range entries {
		points[i] = e.point(p.offset, m)
	}
	return points
}

// entries returns the entries of a family in the order of their labels, overflow ones last.
func (s *Set) entries(f family) []*entry {
	t := &s.families[f]
	s.sweep.RLock()
	t.mu.Lock()
	list := make([]*entry, 0, t.size+len(t.apps))
	for _, own := range t.apps {
		for _, e := range own.entries {
			list = append(list, e)
		}
		if own.overflow != nil {
			list = append(list, own.overflow)
		}
	}
	t.mu.Unlock()
	s.sweep.RUnlock()
	slices.SortFunc(list, func(a, b *entry) int {
		if a.overflow != b.overflow {
			if a.overflow {
				return 1
			}
			return -1
		}
		return slices.Compare(a.values[:], b.values[:])
	})
	return list
}

func (e *entry) point(offset int, m *Metric) Point {
	p := Point{Labels: e.labels(m), StartMs: e.startMs}
	e.mu.Lock()
	defer e.mu.Unlock()
	from := &e.points[offset]
	p.Value, p.Counts, p.Exemplars = from.value, slices.Clone(from.counts), slices.Clone(from.exemplars)
	return p
}

func (e *entry) labels(m *Metric) []Label {
	labels := make([]Label, 0, maxLabels)
	for i, name := range m.Labels {
		if e.values[i] != "" {
			labels = append(labels, Label{name, e.values[i]})
		}
	}
	if e.values[conferenceLabel] != "" {
		labels = append(labels, Label{semconv.LabelConference, e.values[conferenceLabel]})
	}
	if e.overflow {
		labels = append(labels, Label{semconv.LabelOverflow, "true"})
	}
	return labels
}
