package timeseries

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/internal/series"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// sink is an OTLP receiver of metrics, and the newest data point of each series that it received.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	values map[string]float64 // by the name and labels of the scrape page
	types  map[string]string  // by metric, as the scrape page has them
	units  map[string]string
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{values: map[string]float64{}, types: map[string]string{}, units: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
					s.put(m)
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) put(m pmetric.Metric) {
	s.units[m.Name()] = m.Unit()
	switch m.Type() {
	case pmetric.MetricTypeSum:
		s.types[m.Name()] = semconv.Counter
		for _, dp := range m.Sum().DataPoints().All() {
			s.values[m.Name()+labels(dp.Attributes(), "")] = dp.DoubleValue()
		}
	case pmetric.MetricTypeGauge:
		s.types[m.Name()] = semconv.Gauge
		for _, dp := range m.Gauge().DataPoints().All() {
			s.values[m.Name()+labels(dp.Attributes(), "")] = dp.DoubleValue()
		}
	default:
		s.types[m.Name()] = semconv.Histogram
		for _, dp := range m.Histogram().DataPoints().All() {
			total := 0.0
			for i, n := range dp.BucketCounts().All() {
				total += float64(n)
				le := "+Inf"
				if i < dp.ExplicitBounds().Len() {
					le = series.Number(dp.ExplicitBounds().At(i))
				}
				s.values[m.Name()+"_bucket"+labels(dp.Attributes(), le)] = total
			}
			s.values[m.Name()+"_sum"+labels(dp.Attributes(), "")] = dp.Sum()
			s.values[m.Name()+"_count"+labels(dp.Attributes(), "")] = float64(dp.Count())
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

func (s *sink) value(name string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[name]
}

// page reads a scrape page.
func page(t *testing.T, address string) (values harness.Metrics, types, units map[string]string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	resp, err := timeseriestest.Client.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	types, units = map[string]string{}, map[string]string{}
	var text strings.Builder
	for line := range strings.Lines(string(body)) {
		if f := strings.Fields(line); f[0] == "#" && len(f) > 3 {
			name := f[2]
			if f[3] == semconv.Counter {
				name += "_total"
			}
			switch f[1] {
			case "TYPE":
				types[name] = f[3]
			case "UNIT":
				units[f[2]] = f[3]
			}
		}
		sample, _, _ := strings.Cut(line, " # {") // exemplars
		text.WriteString(strings.TrimSuffix(sample, "\n") + "\n")
	}
	values, err = harness.ParseMetrics(text.String())
	require.NoError(t, err)
	return values, types, units
}

// TestConnectorToAnotherCollector: what the connector of one collector emits, and the OTLP exporter sends
// to another collector, has there the values, types and units that the scrape page of the first has.
//
// spec: OUT-01
func TestConnectorToAnotherCollector(t *testing.T) {
	s := newSink(t)
	healths, logsAt, metricsAt, scrape := [2]string{harness.FreeAddress(t), harness.FreeAddress(t)}, harness.FreeAddress(t), harness.FreeAddress(t), harness.FreeAddress(t)
	timeseriestest.Collector(t, healths[1], fmt.Sprintf(`
extensions: {healthcheckv2: {use_v2: true, http: {endpoint: %q}}}
receivers: {otlp: {protocols: {grpc: {endpoint: %q}}}}
exporters: {otlp_http: {endpoint: %q, compression: none}}
service: {extensions: [healthcheckv2], pipelines: {metrics: {receivers: [otlp], exporters: [otlp_http]}}, %s}
`, healths[1], metricsAt, s.URL, timeseriestest.Quiet))
	timeseriestest.Collector(t, healths[0], fmt.Sprintf(`
extensions: {healthcheckv2: {use_v2: true, http: {endpoint: %q}}}
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
connectors: {qosseries: {interval: 200ms}}
exporters:
  otlp_grpc: {endpoint: %q, tls: {insecure: true}}
  qostimeseries: {endpoint: %q}
service:
  extensions: [healthcheckv2]
  pipelines:
    logs: {receivers: [otlp], exporters: [qosseries, qostimeseries]}
    metrics: {receivers: [qosseries], exporters: [otlp_grpc]}
  %s
`, healths[0], logsAt, metricsAt, scrape, timeseriestest.Quiet))
	timeseriestest.Post(t, logsAt, timeseriestest.Call())
	timeseriestest.Post(t, logsAt, timeseriestest.Ratings(3))
	rating := `qos_feedback_total{app="demo",site="\"Nord\\Süd\"",rating="5"}`
	require.Eventually(t, func() bool { return s.value(rating) == 3 }, timeseriestest.Patience, timeseriestest.Pause)
	values, types, units := page(t, scrape)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, map[string]float64(values), s.values)
	require.Equal(t, types, s.types)
	for _, m := range semconv.Metrics {
		if unit, ok := s.units[m.Name]; ok {
			require.Equal(t, m.Unit, unit, m.Name)
			require.Equal(t, map[string]string{"s": "seconds"}[unit], units[m.Name]+map[bool]string{true: "seconds"}[m.Type == semconv.Counter && unit == "s"], m.Name)
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(s.units)), []string{semconv.MetricStreamRTT, semconv.MetricStreamLoss, semconv.MetricConferences, semconv.MetricOpenIssues})
	require.Greater(t, len(values), 100)
}
