package timeseriestest

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// Store is a time-series store with the query API of Prometheus.
type Store struct {
	*Process
	URL string
	// Flush is the path of a request after which queries find all samples that the store has accepted. Empty: they
	// always do.
	Flush string
}

// Prometheus starts Prometheus with a configuration. It accepts remote write.
func Prometheus(t *testing.T, config string) *Store {
	t.Helper()
	return PrometheusAt(t, Client, "http://"+harness.FreeAddress(t), config)
}

// PrometheusAt starts it at a URL, with flags that change its scheme or what a client must send.
func PrometheusAt(t *testing.T, client *http.Client, at, config string, flags ...string) *Store {
	t.Helper()
	path, dir := testenv.Program(t, "prometheus"), t.TempDir()
	file := filepath.Join(dir, "prometheus.yaml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	u, err := url.Parse(at)
	require.NoError(t, err)
	line := append([]string{
		path, "--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + u.Host,
		"--enable-feature=exemplar-storage", "--web.enable-remote-write-receiver",
	}, flags...)
	return &Store{Process: NewProcess(t, client, at+"/-/ready", line...), URL: at}
}

// VictoriaFlush is the Flush of VictoriaMetrics, whose queries otherwise find new samples after seconds.
const VictoriaFlush = "/internal/force_flush"

// Victoria starts VictoriaMetrics.
func Victoria(t *testing.T) *Store {
	t.Helper()
	return VictoriaAt(t, harness.FreeAddress(t))
}

// VictoriaAt starts it at an address.
func VictoriaAt(t *testing.T, address string) *Store {
	t.Helper()
	line := []string{testenv.Program(t, "victoria-metrics"), "-storageDataPath=" + t.TempDir(), "-httpListenAddr=" + address, "-search.latencyOffset=1s", "-search.disableCache"}
	return &Store{Process: NewProcess(t, Client, "http://"+address+"/health", line...), URL: "http://" + address, Flush: VictoriaFlush}
}

// Get reads a JSON answer of the store's API. It reports whether there was one.
func (s *Store) Get(path string, query url.Values, into any) bool {
	if s.Flush != "" {
		resp, err := s.client.Get(s.URL + s.Flush)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
	}
	resp, err := s.client.Get(s.URL + path + "?" + query.Encode())
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(body, into) == nil
}

// Value returns the one value of a query at a time, NaN where there is none.
func (s *Store) Value(promQL string, at time.Time) float64 {
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any
			}
		}
	}
	query := url.Values{"query": {promQL}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	if !s.Get("/api/v1/query", query, &answer) || len(answer.Data.Result) != 1 {
		return math.NaN()
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Await waits until a query has a value.
func (s *Store) Await(t *testing.T, promQL string, want float64) {
	t.Helper()
	const precision = 1e-9
	var last float64
	require.Eventually(t, func() bool {
		last = s.Value(promQL, time.Now())
		return math.Abs(last-want) < precision
	}, Patience, Pause, "%s: want %v, last %v", promQL, want, &last)
}

// AwaitAll waits until each query has its value.
func (s *Store) AwaitAll(t *testing.T, want map[string]float64) {
	t.Helper()
	for promQL, v := range want {
		s.Await(t, promQL, v)
	}
}
