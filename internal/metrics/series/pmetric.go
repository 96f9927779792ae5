package series

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// maxDataPoints bounds the data points of one pmetric.Metrics, about 1 MB.
const maxDataPoints = 2000

// resourceAttributes are the attributes that identify the collector; stores derive job and instance from them.
var resourceAttributes = []string{"service.name", "service.namespace", "service.instance.id"}

// Metrics returns all series as OpenTelemetry metrics in batches of bounded size: cumulative since their
// creation, with the names of semconv.Metrics. A series that was created after since has a first point
// with 0 at its start, so that a store computes the increase to its first value. Each batch has the
// attributes of resource that identify the collector.
func (s *Set) Metrics(resource pcommon.Resource, since, now time.Time) []pmetric.Metrics {
	w := otelWriter{resource: resource, sinceMs: since.UnixMilli(), now: now.UnixMilli()}
	s.Each(func(m *Metric, points []Point) bool {
		w.open = false
		for i := range points {
			w.point(m, &points[i])
		}
		return true
	})
	return w.out
}

type otelWriter struct {
	resource     pcommon.Resource
	sinceMs, now int64
	out          []pmetric.Metrics
	points       int  // in the last of out
	open         bool // metric is the one of the current points
	scope        pmetric.ScopeMetrics
	metric       pmetric.Metric
}

func (w *otelWriter) point(m *Metric, p *Point) {
	start := min(p.StartMs, w.now-1)
	if p.StartMs > w.sinceMs && m.Type != semconv.Gauge {
		zero := Point{Labels: p.Labels}
		if p.Counts != nil {
			zero.Counts = make([]uint64, len(p.Counts))
		}
		w.put(m, &zero, start, start)
	}
	w.put(m, p, start, w.now)
}

func (w *otelWriter) put(m *Metric, p *Point, startMs, atMs int64) {
	w.room(m)
	w.points++
	if m.Bounds == nil {
		w.number(m, p, startMs, atMs)
	} else {
		w.histogram(m, p, startMs, atMs)
	}
}

// room opens a batch if there is none with room, and the metric in it.
func (w *otelWriter) room(m *Metric) {
	if len(w.out) == 0 || w.points >= maxDataPoints {
		batch := pmetric.NewMetrics()
		rm := batch.ResourceMetrics().AppendEmpty()
		for _, name := range resourceAttributes {
			if v, ok := w.resource.Attributes().Get(name); ok {
				v.CopyTo(rm.Resource().Attributes().PutEmpty(name))
			}
		}
		w.scope = rm.ScopeMetrics().AppendEmpty()
		w.scope.Scope().SetName(semconv.ScopeName)
		w.out, w.points, w.open = append(w.out, batch), 0, false
	}
	if w.open {
		return
	}
	w.open = true
	w.metric = w.scope.Metrics().AppendEmpty()
	w.metric.SetName(m.Name)
	if !strings.Contains(m.Unit, "/") { // the Prometheus exporter would append "_per_second" again
		w.metric.SetUnit(m.Unit)
	}
	w.metric.SetDescription(m.Brief)
	switch m.Type {
	case semconv.Counter:
		sum := w.metric.SetEmptySum()
		sum.SetIsMonotonic(true)
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	case semconv.Gauge:
		w.metric.SetEmptyGauge()
	default:
		w.metric.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	}
}

func (w *otelWriter) number(m *Metric, p *Point, startMs, atMs int64) {
	var points pmetric.NumberDataPointSlice
	if m.Type == semconv.Gauge {
		points = w.metric.Gauge().DataPoints()
	} else {
		points = w.metric.Sum().DataPoints()
	}
	dp := points.AppendEmpty()
	dp.SetTimestamp(timestamp(atMs))
	if m.Type != semconv.Gauge {
		dp.SetStartTimestamp(timestamp(startMs))
	}
	dp.SetDoubleValue(p.Value)
	putLabels(dp.Attributes(), p.Labels)
	putExemplars(dp.Exemplars(), p.Exemplars)
}

func (w *otelWriter) histogram(m *Metric, p *Point, startMs, atMs int64) {
	dp := w.metric.Histogram().DataPoints().AppendEmpty()
	dp.SetStartTimestamp(timestamp(startMs))
	dp.SetTimestamp(timestamp(atMs))
	var total uint64
	for _, n := range p.Counts {
		total += n
	}
	dp.SetCount(total)
	dp.SetSum(p.Value)
	dp.ExplicitBounds().FromRaw(m.Bounds)
	dp.BucketCounts().FromRaw(p.Counts)
	putLabels(dp.Attributes(), p.Labels)
	putExemplars(dp.Exemplars(), p.Exemplars)
}

func putLabels(attrs pcommon.Map, labels []Label) {
	attrs.EnsureCapacity(len(labels))
	for _, l := range labels {
		if l.Name == semconv.LabelOverflow {
			attrs.PutBool(l.Name, true)
			continue
		}
		attrs.PutStr(l.Name, l.Value)
	}
}

func putExemplars(out pmetric.ExemplarSlice, exemplars []Exemplar) {
	for i := range exemplars {
		x := out.AppendEmpty()
		x.SetTraceID(exemplars[i].TraceID)
		x.SetTimestamp(timestamp(exemplars[i].AtMs))
		x.SetDoubleValue(exemplars[i].Value)
	}
}

func timestamp(ms int64) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(time.UnixMilli(ms))
}
