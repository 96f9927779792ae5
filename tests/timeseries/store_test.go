package timeseries

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// TestScrape: Prometheus scrapes OpenMetrics, answers each query with the value in the unit of the metric's
// name, counts what has a text that can be no label, finds nothing wrong with a name or a unit, and stores exemplars with the trace ID of the conference.
//
// spec: OUT-01
func TestScrape(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "prometheus")
	address := harness.FreeAddress(t)
	c := newCollector(t, map[string]any{"endpoint": address})
	s := timeseriestest.Prometheus(t, fmt.Sprintf("scrape_configs: [{job_name: qos, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{targets: [%q]}]}]", address))
	c.send(timeseriestest.Call())
	s.AwaitAll(t, timeseriestest.Expected)
	c.send(timeseriestest.OddRatings())
	s.Await(t, berlin, float64(len(timeseriestest.Odd)))
	requireClean(t, address)
	var answer struct {
		Data []struct {
			SeriesLabels map[string]string
			Exemplars    []struct {
				Labels    map[string]string
				Value     string
				Timestamp float64
			}
		}
	}
	query := url.Values{"query": {"qos_stream_loss_ratio_bucket"}, "start": {strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)}}
	require.Eventually(t, func() bool {
		return s.Get("/api/v1/query_exemplars", query, &answer) && len(answer.Data) == 1
	}, timeseriestest.Patience, timeseriestest.Pause)
	x := answer.Data[0]
	require.Equal(t, "0.1", x.SeriesLabels["le"])
	require.Equal(t, map[string]string{"trace_id": fmt.Sprintf("%x", semconv.TraceID("demo", "c1"))}, x.Exemplars[0].Labels)
	require.Equal(t, "0.1", x.Exemplars[0].Value)
	require.InDelta(t, float64(time.Now().Unix()), x.Exemplars[0].Timestamp, timeseriestest.Patience.Seconds())
}

// pushed runs a test with each protocol and its store; the URL of the push is through, in place of
// the store's where that is not empty.
func pushed(t *testing.T, run func(t *testing.T, s *timeseriestest.Store, start func(through string) *collector)) {
	t.Helper()
	for protocol, path := range map[string]string{"remote_write": "/api/v1/write", "victoriametrics": "/api/v1/import/prometheus"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var s *timeseriestest.Store
			if protocol == "victoriametrics" {
				s = timeseriestest.Victoria(t)
			} else {
				s = timeseriestest.Prometheus(t, "{}")
			}
			run(t, s, func(through string) *collector {
				if through == "" {
					through = s.URL
				}
				return newCollector(t, map[string]any{"endpoint": harness.FreeAddress(t), "push": map[string]any{
					"endpoint": through + path, "protocol": protocol, "interval": "200ms", "labels": map[string]any{"zone": "west"},
					"retry_on_failure": map[string]any{"initial_interval": "50ms", "max_interval": "200ms"},
					"sending_queue":    map[string]any{"storage": "file_storage"},
				}})
			})
		})
	}
}

// requireClean checks a scrape as promtool does: names, base units, help. It contains each metric.
func requireClean(t *testing.T, address string) {
	t.Helper()
	resp, err := timeseriestest.Client.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	for _, m := range semconv.Metrics {
		require.Contains(t, string(text), "# TYPE "+m.Name+" ")
	}
	check := exec.CommandContext(t.Context(), testenv.Program(t, "promtool"), "check", "metrics")
	check.Stdin = bytes.NewReader(text)
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out))
}

// berlin is a query for the ratings of OddRatings.
const berlin = `sum(qos_feedback_total{rating="1",site="Berlin\ufffd"})`

const rated = `sum(qos_feedback_total{rating="5",job="qos",instance="collector-1",zone="west"})`

// TestPush: each query has the value in the unit of the metric's name, also of what has a text that can be no label.
//
// spec: OUT-01
func TestPush(t *testing.T) {
	t.Parallel()
	pushed(t, func(t *testing.T, s *timeseriestest.Store, start func(string) *collector) {
		t.Helper()
		c := start("")
		c.send(timeseriestest.Call())
		s.AwaitAll(t, timeseriestest.Expected)
		c.send(timeseriestest.Ratings(2))
		s.Await(t, rated, 2)
		s.Await(t, `sum(increase(qos_feedback_total[5m]))>bool 1.9`, 1) // from the zero at its start
		c.send(timeseriestest.OddRatings())
		s.Await(t, berlin, float64(len(timeseriestest.Odd)))
	})
}

// outage counts 2, ends the store, and counts 3 more. It returns a time at which some samples of 5
// are queued.
func outage(t *testing.T, s *timeseriestest.Store, c *collector) time.Time {
	t.Helper()
	c.send(timeseriestest.Ratings(2))
	s.Await(t, rated, 2)
	s.End(syscall.SIGTERM)
	c.send(timeseriestest.Ratings(3))
	queued := c.metric("otelcol_exporter_queue_size")
	require.Eventually(t, func() bool { return c.metric("otelcol_exporter_queue_size") > queued+3 }, timeseriestest.Patience, timeseriestest.Pause)
	return time.Now()
}

// TestStoreRestarts: while the store is away the samples wait, and are stored with their own times.
//
// spec: OUT-01
func TestStoreRestarts(t *testing.T) {
	t.Parallel()
	pushed(t, func(t *testing.T, s *timeseriestest.Store, start func(string) *collector) {
		t.Helper()
		c := start("")
		away := outage(t, s, c)
		c.send(timeseriestest.Ratings(4))
		s.Start()
		s.Await(t, rated, 9)
		require.InDelta(t, 5, s.Value(rated, away), 0, "what was counted while the store was away")
		require.Zero(t, c.metric("otelcol_exporter_send_failed_metric_points"))
		require.Zero(t, c.metric("otelcol_exporter_enqueue_failed_metric_points"))
	})
}

// TestCollectorRestarts: what the queue holds when the collector stops is stored after its start, with
// its own times.
//
// spec: OUT-01
func TestCollectorRestarts(t *testing.T) {
	t.Parallel()
	pushed(t, func(t *testing.T, s *timeseriestest.Store, start func(string) *collector) {
		t.Helper()
		c := start("")
		away := outage(t, s, c)
		c.end()
		c.start()
		s.Start()
		c.send(timeseriestest.Ratings(4))
		s.Await(t, rated, 4) // counted anew
		require.InDelta(t, 5, s.Value(rated, away), 0, "what was counted before the collector stopped")
		require.Zero(t, c.metric("otelcol_exporter_send_failed_metric_points"), "the samples that were being sent are stored before the others")
	})
}

// TestStoreRefuses: a store that answers 503 or 429 for a time gets all samples after it.
//
// spec: OUT-01
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	pushed(t, func(t *testing.T, s *timeseriestest.Store, start func(string) *collector) {
		t.Helper()
		target, err := url.Parse(s.URL)
		require.NoError(t, err)
		var refusal atomic.Int64
		var refused atomic.Int64
		forward := httputil.NewSingleHostReverseProxy(target)
		forward.Transport = timeseriestest.Client.Transport
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if code := refusal.Load(); code != 0 {
				refused.Add(1)
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(int(code))
				return
			}
			forward.ServeHTTP(w, r)
		}))
		t.Cleanup(proxy.Close)
		c := start(proxy.URL)
		c.send(timeseriestest.Ratings(2))
		s.Await(t, rated, 2)
		for i, code := range []int64{http.StatusServiceUnavailable, http.StatusTooManyRequests} {
			before := refused.Load()
			refusal.Store(code)
			c.send(timeseriestest.Ratings(1))
			require.Eventually(t, func() bool { return refused.Load() > before+1 }, timeseriestest.Patience, timeseriestest.Pause)
			require.GreaterOrEqual(t, math.Abs(s.Value(rated, time.Now())-float64(3+i)), 1e-9)
			refusal.Store(0)
			s.Await(t, rated, float64(3+i))
		}
		require.Zero(t, c.metric("otelcol_exporter_send_failed_metric_points"))
	})
}
