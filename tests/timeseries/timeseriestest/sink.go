package timeseriestest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Sink is an OTLP receiver of metrics, and the newest data point of each series that it received.
type Sink struct {
	URL string

	mu       sync.Mutex
	received Received
}

// Received are the series of a Sink.
type Received struct {
	Values map[string]float64 // by the name and labels of the scrape page
	Types  map[string]string  // by metric, as the scrape page has them
	Units  map[string]string  // by metric
}

// NewSink starts a sink, which ends with the test.
func NewSink(t *testing.T) *Sink {
	t.Helper()
	s := &Sink{received: Received{Values: map[string]float64{}, Types: map[string]string{}, Units: map[string]string{}}}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *Sink) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := pmetricotlp.NewExportRequest()
	if err != nil || request.UnmarshalProto(body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.Metrics().ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				s.received.put(m)
			}
		}
	}
}

// Value returns the newest value of a series, by its name and labels; 0 if there is none.
func (s *Sink) Value(name string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received.Values[name]
}

// Received returns a copy of what the sink has.
func (s *Sink) Received() Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Received{maps.Clone(s.received.Values), maps.Clone(s.received.Types), maps.Clone(s.received.Units)}
}

func (r *Received) put(m pmetric.Metric) {
	r.Units[m.Name()] = m.Unit()
	switch m.Type() {
	case pmetric.MetricTypeSum:
		r.Types[m.Name()] = semconv.Counter
		for _, dp := range m.Sum().DataPoints().All() {
			r.Values[m.Name()+labels(dp.Attributes(), "")] = dp.DoubleValue()
		}
	case pmetric.MetricTypeGauge:
		r.Types[m.Name()] = semconv.Gauge
		for _, dp := range m.Gauge().DataPoints().All() {
			r.Values[m.Name()+labels(dp.Attributes(), "")] = dp.DoubleValue()
		}
	default:
		r.Types[m.Name()] = semconv.Histogram
		for _, dp := range m.Histogram().DataPoints().All() {
			total := 0.0
			for i, n := range dp.BucketCounts().All() {
				total += float64(n)
				le := "+Inf"
				if i < dp.ExplicitBounds().Len() {
					le = series.Number(dp.ExplicitBounds().At(i))
				}
				r.Values[m.Name()+"_bucket"+labels(dp.Attributes(), le)] = total
			}
			r.Values[m.Name()+"_sum"+labels(dp.Attributes(), "")] = dp.Sum()
			r.Values[m.Name()+"_count"+labels(dp.Attributes(), "")] = float64(dp.Count())
		}
	}
}

// labels writes labels as the scrape page does.
func labels(attrs pcommon.Map, le string) string {
	var list []string
	for name, v := range attrs.All() {
		list = append(list, fmt.Sprintf(`%s="%s"`, name, series.Escape(v.AsString())))
	}
	if le != "" {
		list = append(list, fmt.Sprintf(`le="%s"`, le))
	}
	return "{" + strings.Join(list, ",") + "}"
}
