package timeseriesexporter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/qosrtc/qos/internal/metrics/series"
)

// nameLabel is the label that has the metric's name.
const nameLabel = "__name__"

// sample is one value of one series as Prometheus has them.
type sample struct {
	labels   []series.Label // by name, the metric's name among them
	value    float64
	atMs     int64
	exemplar *exemplar
}

type exemplar struct {
	trace string
	value float64
	atMs  int64
}

// flatten returns the samples of metrics: of a histogram its buckets, sum and count.
func flatten(metrics pmetric.Metrics, extra map[string]string) []sample {
	var f flattener
	for _, resource := range metrics.ResourceMetrics().All() {
		f.common = commonLabels(resource.Resource().Attributes(), extra)
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				f.metric(m)
			}
		}
	}
	return f.out
}

// commonLabels are those of the collector and of the configuration.
func commonLabels(attrs pcommon.Map, extra map[string]string) []series.Label {
	labels := map[string]string{}
	for label, attribute := range map[string]string{"job": "service.name", "instance": "service.instance.id"} {
		if v, ok := attrs.Get(attribute); ok {
			labels[label] = v.AsString()
		}
	}
	maps.Copy(labels, extra)
	var out []series.Label
	for name, value := range labels {
		out = append(out, series.Label{Name: name, Value: value})
	}
	return out
}

type flattener struct {
	common []series.Label
	out    []sample
}

func (f *flattener) metric(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeSum:
		f.numbers(m.Name(), m.Sum().DataPoints())
	case pmetric.MetricTypeGauge:
		f.numbers(m.Name(), m.Gauge().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, dp := range m.Histogram().DataPoints().All() {
			f.histogram(m.Name(), dp)
		}
	default: // internal/metrics/series makes none
	}
}

func (f *flattener) numbers(name string, points pmetric.NumberDataPointSlice) {
	for _, dp := range points.All() {
		var x *exemplar
		if dp.Exemplars().Len() > 0 {
			x = exemplarOf(dp.Exemplars().At(0))
		}
		f.put(name, dp.Attributes(), "", dp.DoubleValue(), dp.Timestamp(), x)
	}
}

func (f *flattener) histogram(name string, dp pmetric.HistogramDataPoint) {
	bounds, attrs := dp.ExplicitBounds(), dp.Attributes()
	var total uint64
	low := 0.0 // values are never negative
	for i, n := range dp.BucketCounts().All() {
		total += n
		le := "+Inf"
		var inside func(v float64) bool
		if i < bounds.Len() {
			high := bounds.At(i)
			le = series.Number(high)
			inside = func(v float64) bool { return v <= high && (v > low || i == 0) }
		} else {
			inside = func(v float64) bool { return v > low || i == 0 }
		}
		f.put(name+"_bucket", attrs, le, float64(total), dp.Timestamp(), findExemplar(dp.Exemplars(), inside))
		if i < bounds.Len() {
			low = bounds.At(i)
		}
	}
	f.put(name+"_sum", attrs, "", dp.Sum(), dp.Timestamp(), nil)
	f.put(name+"_count", attrs, "", float64(total), dp.Timestamp(), nil)
}

func findExemplar(list pmetric.ExemplarSlice, inside func(float64) bool) *exemplar {
	for _, x := range list.All() {
		if inside(x.DoubleValue()) {
			return exemplarOf(x)
		}
	}
	return nil
}

func exemplarOf(x pmetric.Exemplar) *exemplar {
	return &exemplar{trace: x.TraceID().String(), value: x.DoubleValue(), atMs: int64(x.Timestamp()) / int64(time.Millisecond)}
}

func (f *flattener) put(name string, attrs pcommon.Map, le string, value float64, at pcommon.Timestamp, x *exemplar) {
	labels := make([]series.Label, 0, len(f.common)+attrs.Len()+2)
	labels = append(labels, series.Label{Name: nameLabel, Value: name})
	for _, l := range f.common {
		if _, ok := attrs.Get(l.Name); !ok {
			labels = append(labels, l)
		}
	}
	for key, v := range attrs.All() {
		labels = append(labels, series.Label{Name: key, Value: v.AsString()})
	}
	if le != "" {
		labels = append(labels, series.Label{Name: "le", Value: le})
	}
	slices.SortFunc(labels, func(a, b series.Label) int { return cmp.Compare(a.Name, b.Name) })
	f.out = append(f.out, sample{labels, value, int64(at) / int64(time.Millisecond), x})
}

var textHeaders = map[string]string{"Content-Type": "text/plain"}

// writeText writes samples in the Prometheus text format with times.
func writeText(samples []sample) []byte {
	var b []byte
	for i := range samples {
		s := &samples[i]
		sep := byte('{')
		var rest []byte
		for _, l := range s.labels {
			if l.Name == nameLabel {
				b = append(b, l.Value...)
				continue
			}
			rest = append(rest, sep)
			rest = append(append(append(append(rest, l.Name...), `="`...), series.Escape(l.Value)...), '"')
			sep = ','
		}
		b = append(b, rest...)
		if len(rest) > 0 {
			b = append(b, '}')
		}
		b = append(append(b, ' '), series.Number(s.value)...)
		b = append(append(append(b, ' '), series.Number(float64(s.atMs))...), '\n')
	}
	return b
}
