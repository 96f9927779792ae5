package stock

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/golang/snappy"
	"github.com/prometheus/prometheus/prompb"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exportertest"

	"github.com/qosrtc/qos/exporters/timeseriesexporter"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// TestStockRemoteWrite: what the connector emits, the stock exporter writes to the stores with the names and
// values of the scrape page.
//
// spec: OUT-01
func TestStockRemoteWrite(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *timeseriestest.Store{
		"prometheus":      func(t *testing.T) *timeseriestest.Store { t.Helper(); return timeseriestest.Prometheus(t, "{}") },
		"victoriametrics": timeseriestest.Victoria,
	} {
		t.Run(name, func(t *testing.T) {
			store, health, logs := start(t), harness.FreeAddress(t), harness.FreeAddress(t)
			timeseriestest.Binary(t, os.Args[0], health, fmt.Sprintf(`
extensions: {healthcheckv2: {use_v2: true, http: {endpoint: %q}}}
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
connectors: {qosseries: {interval: 200ms}}
exporters: {prometheusremotewrite: {endpoint: %q}}
service:
  extensions: [healthcheckv2]
  pipelines:
    logs: {receivers: [otlp], exporters: [qosseries]}
    metrics: {receivers: [qosseries], exporters: [prometheusremotewrite]}
  %s
`, health, logs, store.URL+"/api/v1/write", timeseriestest.Quiet))
			timeseriestest.Post(t, logs, timeseriestest.Call())
			store.AwaitAll(t, timeseriestest.Expected)
			timeseriestest.Post(t, logs, timeseriestest.Ratings(3))
			store.Await(t, `sum(qos_feedback_total{rating="5"})`, 3)
		})
	}
}

// TestPrometheusDecodesThePush: the decoder of Prometheus reads each body of the push; labels are sorted
// and unique, and values, times and exemplars are those that were counted.
//
// spec: OUT-01
func TestPrometheusDecodesThePush(t *testing.T) {
	requests := make(chan prompb.WriteRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request prompb.WriteRequest
		if err == nil {
			if body, err = snappy.Decode(nil, body); err == nil {
				err = request.Unmarshal(body)
			}
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case requests <- request:
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	address, err := freeport.Address()
	require.NoError(t, err)
	factory := timeseriesexporter.NewFactory()
	config := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"endpoint": address, "push": map[string]any{"endpoint": server.URL, "interval": "100ms"}}).Unmarshal(config))
	e, err := factory.CreateLogs(t.Context(), exportertest.NewNopSettings(factory.Type()), config)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	before := time.Now().UnixMilli()
	require.NoError(t, e.ConsumeLogs(t.Context(), timeseriestest.Call()))
	require.NoError(t, e.ConsumeLogs(t.Context(), timeseriestest.Ratings(3)))
	require.Equal(t, 3.0, awaitRatings(t, requests, before))
	server.CloseClientConnections()
	go func() {
		for range requests { // of the shutdown
		}
	}()
	require.NoError(t, e.Shutdown(t.Context()))
	server.Close()
	close(requests)
}

// awaitRatings checks each request until one has a value of the ratings, and returns it.
func awaitRatings(t *testing.T, requests <-chan prompb.WriteRequest, before int64) float64 {
	t.Helper()
	deadline := time.After(timeseriestest.Patience)
	for {
		select {
		case request := <-requests:
			for _, series := range request.Timeseries {
				labels := map[string]string{}
				for _, l := range series.Labels {
					require.NotContains(t, labels, l.Name)
					labels[l.Name] = l.Value
				}
				names := make([]string, 0, len(series.Labels))
				for _, l := range series.Labels {
					names = append(names, l.Name)
				}
				require.Equal(t, slices.Sorted(maps.Keys(labels)), names)
				require.Len(t, series.Samples, 1)
				sample := series.Samples[0]
				require.InDelta(t, before, sample.Timestamp, float64(timeseriestest.Patience.Milliseconds()))
				if labels["__name__"] != semconv.MetricFeedback || sample.Value == 0 { // begins with a zero
					continue
				}
				require.Equal(t, "5", labels["rating"])
				require.Equal(t, `"Nord\Süd"`, labels["site"])
				require.Len(t, series.Exemplars, 1)
				require.Equal(t, []prompb.Label{{Name: "trace_id", Value: fmt.Sprintf("%x", semconv.TraceID("demo", "rated"))}}, series.Exemplars[0].Labels)
				require.Equal(t, 1.0, series.Exemplars[0].Value)
				return sample.Value
			}
		case <-deadline:
			require.FailNow(t, "no ratings")
		}
	}
}
