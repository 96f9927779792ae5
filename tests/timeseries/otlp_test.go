package timeseries

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

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
	t.Parallel()
	s := timeseriestest.NewSink(t)
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
	require.Eventually(t, func() bool { return s.Value(rating) == 3 }, timeseriestest.Patience, timeseriestest.Pause)
	values, types, units := page(t, scrape)
	received := s.Received()
	require.Equal(t, map[string]float64(values), received.Values)
	require.Equal(t, types, received.Types)
	for _, m := range semconv.Metrics {
		if unit, ok := received.Units[m.Name]; ok {
			want := m.Unit
			if strings.Contains(want, "/") { // rates have it in their name only
				want = ""
			}
			require.Equal(t, want, unit, m.Name)
			require.Equal(t, map[string]string{"s": "seconds"}[unit], units[m.Name]+map[bool]string{true: "seconds"}[m.Type == semconv.Counter && unit == "s"], m.Name)
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(received.Units)), []string{semconv.MetricStreamRTT, semconv.MetricStreamLoss, semconv.MetricConferences, semconv.MetricOpenIssues})
	require.Greater(t, len(values), 100)
}
