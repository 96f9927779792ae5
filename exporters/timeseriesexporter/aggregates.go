package timeseriesexporter

import (
	"strconv"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/qosrtc/qos/internal/semconv"
)

// otherApp stands for all apps beyond the configured bound.
const otherApp = "other"

// Bucket bounds: dense where operators draw their lines (the label bounds of
// docs/quality.md among them), so that a quantile near a line is not a guess.
var (
	secondsBounds  = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30}
	durationBounds = []float64{10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}
	mosBounds      = []float64{1, 1.5, 2, 2.3, 2.6, 2.9, 3.2, 3.5, 3.8, 4, 4.2, 4.3, 4.4, 4.5, 4.7}
	lossBounds     = []float64{0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1}
	jitterBounds   = []float64{0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5}
	rttBounds      = []float64{0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 2}
)

// aggregates holds all metrics. The handles are cached by their label values, since
// building a metric's name costs more than counting.
type aggregates struct {
	metrics *metrics.Set
	maxApps int
	issues  openIssues

	mu      sync.Mutex
	apps    map[string]*appMetrics
	streams map[streamKey]*streamMetrics
}

type streamKey struct{ app, media, direction string }

// appMetrics is what is counted for one app.
type appMetrics struct {
	name         string
	duration     *metrics.PrometheusHistogram
	mos          *metrics.PrometheusHistogram
	setupDelay   *metrics.PrometheusHistogram
	participants *metrics.Counter
	disruptions  *metrics.Counter
	measurements *metrics.Counter
	lostFrames   *metrics.Counter
}

// streamMetrics is what is counted for one kind of stream of one app.
type streamMetrics struct {
	mos, loss, jitter, rtt *metrics.PrometheusHistogram
}

func newAggregates(maxApps int) *aggregates {
	return &aggregates{
		metrics: metrics.NewSet(),
		maxApps: maxApps,
		issues:  openIssues{most: maxOpenIssues, open: map[string]*metrics.Gauge{}},
		apps:    map[string]*appMetrics{},
		streams: map[streamKey]*streamMetrics{},
	}
}

// app returns the metrics of an app, or those of "other" and true once the bound is
// reached.
func (a *aggregates) app(id string) (m *appMetrics, overflow bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.apps[id]; m != nil {
		return m, false
	}
	if len(a.apps) >= a.maxApps {
		id, overflow = otherApp, true
		if m := a.apps[id]; m != nil {
			return m, true
		}
	}
	m = a.newApp(id)
	a.apps[id] = m
	return m, overflow
}

func (a *aggregates) newApp(id string) *appMetrics {
	histogram := func(metric string, bounds []float64) *metrics.PrometheusHistogram {
		return a.metrics.GetOrCreatePrometheusHistogramExt(name(metric, semconv.LabelApp, id), bounds)
	}
	counter := func(metric string) *metrics.Counter {
		return a.metrics.GetOrCreateCounter(name(metric, semconv.LabelApp, id))
	}
	return &appMetrics{
		name:         id,
		duration:     histogram(semconv.MetricConferenceDuration, durationBounds),
		mos:          histogram(semconv.MetricConferenceMOS, mosBounds),
		setupDelay:   histogram(semconv.MetricFabricSetup, secondsBounds),
		participants: counter(semconv.MetricParticipants),
		disruptions:  counter(semconv.MetricICEDisruptions),
		measurements: counter(semconv.MetricMeasurements),
		lostFrames:   counter(semconv.MetricLostFrames),
	}
}

func (a *aggregates) stream(app, media, direction string) *streamMetrics {
	key := streamKey{app, media, direction}
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.streams[key]
	if m == nil {
		m = a.newStream(key)
		a.streams[key] = m
	}
	return m
}

func (a *aggregates) newStream(k streamKey) *streamMetrics {
	histogram := func(metric string, bounds []float64) *metrics.PrometheusHistogram {
		return a.metrics.GetOrCreatePrometheusHistogramExt(name(metric, semconv.LabelApp, k.app,
			semconv.LabelMedia, k.media, semconv.LabelDirection, k.direction), bounds)
	}
	return &streamMetrics{
		mos:    histogram(semconv.MetricStreamMOS, mosBounds),
		loss:   histogram(semconv.MetricStreamLoss, lossBounds),
		jitter: histogram(semconv.MetricStreamJitter, jitterBounds),
		rtt:    histogram(semconv.MetricStreamRTT, rttBounds),
	}
}

// count adds 1 to the counter of a metric whose second label has few values.
func (a *aggregates) count(metric, app, label, value string) { a.add(metric, app, label, value, 1) }

func (a *aggregates) add(metric, app, label, value string, n int) {
	a.metrics.GetOrCreateCounter(name(metric, semconv.LabelApp, app, label, value)).Add(n)
}

// name builds a metric's name with labels in the exposition format.
func name(metric string, labels ...string) string {
	var b strings.Builder
	b.WriteString(metric)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(labels[i])
		b.WriteByte('=')
		b.WriteString(strconv.Quote(labels[i+1]))
	}
	b.WriteByte('}')
	return b.String()
}
