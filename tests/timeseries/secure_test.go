package timeseries

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testcert"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// authority is a certificate authority, and a server's certificate that it signed.
type authority struct{ ca, certificate, key string } // files

func newAuthority(t *testing.T) authority {
	t.Helper()
	dir := t.TempDir()
	c, err := testcert.New("127.0.0.1")
	require.NoError(t, err)
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	return authority{write("ca.pem", c.Root), write("cert.pem", c.Leaf), write("key.pem", c.Key)}
}

const (
	user, password = "qos", "correct horse"
	passwordHash   = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e" // bcrypt
	token          = "t0ken"
)

var basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))

// trusting is a client that trusts an authority and sends a header.
func trusting(t *testing.T, a authority, authorization string) *http.Client {
	t.Helper()
	pemCA, err := os.ReadFile(a.ca)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pemCA))
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	return &http.Client{Timeout: timeseriestest.Client.Timeout, Transport: authorized{transport, authorization}}
}

// authorized adds the header Authorization to requests.
type authorized struct {
	*http.Transport
	value string
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.value)
	return a.Transport.RoundTrip(r)
}

// secureStore starts a store with TLS whose endpoint of the push demands the value of the header
// Authorization.
type secureStore struct {
	name, path, protocol, authorization string
	start                               func(t *testing.T, a authority) *timeseriestest.Store
}

// secureStores are Prometheus, with its own TLS and passwords, and VictoriaMetrics behind vmauth, with
// its tokens.
var secureStores = []secureStore{
	{"basic", "/api/v1/write", "remote_write", basic, func(t *testing.T, a authority) *timeseriestest.Store {
		t.Helper()
		web := filepath.Join(t.TempDir(), "web.yaml")
		text := fmt.Sprintf("{tls_server_config: {cert_file: %q, key_file: %q}, basic_auth_users: {%s: %q}}", a.certificate, a.key, user, passwordHash)
		require.NoError(t, os.WriteFile(web, []byte(text), 0o600))
		return timeseriestest.PrometheusAt(t, trusting(t, a, basic), "https://"+harness.FreeAddress(t), "{}", "--web.config.file="+web)
	}},
	{"bearer", "/api/v1/import/prometheus", "victoriametrics", "Bearer " + token, func(t *testing.T, a authority) *timeseriestest.Store {
		t.Helper()
		behind, path := timeseriestest.Victoria(t), testenv.Program(t, "vmauth")
		config, address := filepath.Join(t.TempDir(), "auth.yaml"), harness.FreeAddress(t)
		require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("users: [{bearer_token: %q, url_prefix: %q}]", token, behind.URL)), 0o600))
		secure := "https://" + address
		return &timeseriestest.Store{Process: timeseriestest.NewProcess(t, trusting(t, a, "Bearer "+token), secure+"/health", path, "-auth.config="+config, "-httpListenAddr="+address, "-tls", "-tlsCertFile="+a.certificate, "-tlsKeyFile="+a.key), URL: secure, Flush: timeseriestest.VictoriaFlush}
	}},
}

// pushes is the configuration of a collector that pushes to the store.
func (s *secureStore) pushes(t *testing.T, url, ca, authorization string) map[string]any {
	t.Helper()
	push := map[string]any{
		"endpoint": url + s.path, "protocol": s.protocol, "interval": "200ms", "tls": map[string]any{"ca_file": ca},
		"retry_on_failure": map[string]any{"initial_interval": "50ms", "max_interval": "200ms"},
		"sending_queue":    map[string]any{"storage": "file_storage"},
	}
	if authorization != "" {
		push["headers"] = map[string]any{"Authorization": authorization}
	}
	return map[string]any{"endpoint": harness.FreeAddress(t), "push": push}
}

// TestPushOverTLS: a store with TLS and authentication gets the samples from the collector that
// trusts its authority and has its credentials. A collector that trusts another authority sends
// nothing; what waits in its queue is stored when the configuration is mended.
//
// spec: OUT-01
func TestPushOverTLS(t *testing.T) {
	t.Parallel()
	for _, s := range secureStores {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			trusted, foreign := newAuthority(t), newAuthority(t)
			store := s.start(t, trusted)
			c := newCollector(t, s.pushes(t, store.URL, foreign.ca, s.authorization))
			c.send(timeseriestest.Ratings(1))
			waits(t, c)
			c.end()
			c.config = s.pushes(t, store.URL, trusted.ca, s.authorization)
			c.start()
			c.send(timeseriestest.Ratings(5))
			store.Await(t, ratings, 5)
			store.Await(t, `sum(count_over_time((qos_feedback_total{rating="5"}==1)[10m:100ms]))>bool 0`, 1) // of the first life
			require.Zero(t, c.metric("otelcol_exporter_send_failed_metric_points"))
		})
	}
}

const ratings = `sum(qos_feedback_total{rating="5"})`

// waits waits until samples of several intervals are queued, of which none was sent.
func waits(t *testing.T, c *collector) {
	t.Helper()
	const several = 3
	require.Eventually(t, func() bool { return c.metric("otelcol_exporter_queue_size") >= several }, timeseriestest.Patience, timeseriestest.Pause)
	require.Zero(t, c.metric("otelcol_exporter_sent_metric_points"))
}

// TestPushWithoutCredentials: a store accepts nothing from a collector with other credentials. Where
// it answers 401 the samples wait; vmauth answers 400 to an unknown token, by which they are refused
// for good and counted.
//
// spec: OUT-01
func TestPushWithoutCredentials(t *testing.T) {
	t.Parallel()
	for _, s := range secureStores {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			trusted := newAuthority(t)
			store := s.start(t, trusted)
			for _, wrong := range []string{"", "Bearer wrong", "Basic d3Jvbmc6d3Jvbmc="} {
				c := newCollector(t, s.pushes(t, store.URL, trusted.ca, wrong))
				c.send(timeseriestest.Ratings(2))
				if s.name == "basic" || wrong == "" {
					waits(t, c)
				} else {
					require.Eventually(t, func() bool { return c.metric("otelcol_exporter_send_failed_metric_points") > 0 }, timeseriestest.Patience, timeseriestest.Pause)
					require.Zero(t, c.metric("otelcol_exporter_sent_metric_points"))
				}
				c.end()
			}
			c := newCollector(t, s.pushes(t, store.URL, trusted.ca, s.authorization))
			c.send(timeseriestest.Ratings(5))
			store.Await(t, ratings, 5)
			store.Await(t, `sum(max_over_time(qos_feedback_total{rating="5"}[10m]))+sum(count_over_time((qos_feedback_total{rating="5"}==2)[10m:100ms]) or vector(0))`, 5)
		})
	}
}
