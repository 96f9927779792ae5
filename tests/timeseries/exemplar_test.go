package timeseries

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// deployment is the real collector with its scrape endpoint and dashboard.
type deployment struct{ receiver, scrape, dashboard string }

func deploy(t *testing.T) deployment {
	t.Helper()
	d := deployment{harness.FreeAddress(t), harness.FreeAddress(t), harness.FreeAddress(t)}
	health, dir := harness.FreeAddress(t), t.TempDir()
	timeseriestest.Collector(t, health, fmt.Sprintf(`
extensions:
  healthcheckv2: {use_v2: true, http: {endpoint: %q}}
  qosapps: {key_file: %q, apps: [{id: %s, secrets: [%s], origins: [%q]}]}
  qosstorage: {directory: %q}
  qosdashboard: {endpoint: %q, storage: qosstorage}
receivers: {qoswss: {endpoint: %q, apps: qosapps}}
processors: {quality: {}, conference: {storage: qosstorage}}
exporters:
  qosstore: {storage: qosstorage}
  qostimeseries: {endpoint: %q}
service:
  extensions: [healthcheckv2, qosapps, qosstorage, qosdashboard]
  pipelines:
    logs: {receivers: [qoswss], processors: [quality, conference], exporters: [qosstore, qostimeseries]}
  %s
`, health, filepath.Join(dir, "key"), harness.AppID, harness.AppSecret, harness.Origin, filepath.Join(dir, "store"), d.dashboard, d.receiver, d.scrape, timeseriestest.Quiet))
	return d
}

// measure sends one measurement of a conference with a round-trip time, as a browser does.
func (d deployment) measure(t *testing.T, conference string, rttMs int) {
	t.Helper()
	back := "http://" + d.receiver + "/"
	grant, err := authtest.Login(t.Context(), timeseriestest.Client, back, harness.Origin, harness.AppID, harness.AppSecret, protocol.UserID{Name: "ann", Alias: "ann"})
	require.NoError(t, err)
	w, err := harness.Dial(t.Context(), back, false)
	require.NoError(t, err)
	defer w.Close()
	at := time.Now().UnixMilli()
	require.True(t, w.Send(
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, at),
		fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"audio"}`, conference, at),
		`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","rttMs"]}`,
	))
	w.Deliver(t, 1, fmt.Sprintf(`{"type":"stats","seq":1,"at":%d,"fabric":1,"intervalMs":2000,"rows":[[1,7,%d]]}`, at, rttMs))
}

// exemplars are those that Prometheus has of a query, by their value.
func exemplars(s *timeseriestest.Store, query string) map[string]exemplar {
	var answer struct {
		Data []struct{ Exemplars []exemplar }
	}
	around := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	if !s.Get("/api/v1/query_exemplars", url.Values{"query": {query}, "start": {around(-time.Hour)}, "end": {around(time.Hour)}}, &answer) {
		return nil
	}
	out := map[string]exemplar{}
	for _, series := range answer.Data {
		for _, x := range series.Exemplars {
			out[x.Value] = x
		}
	}
	return out
}

type exemplar struct {
	Labels    map[string]string
	Value     string
	Timestamp float64
}

// TestExemplarOpensItsConference: the link of an exemplar that Prometheus scraped opens the
// conference that the value was measured in, and no other.
//
// spec: OUT-01, DASH-04
func TestExemplarOpensItsConference(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "prometheus")
	d := deploy(t)
	s := timeseriestest.Prometheus(t, fmt.Sprintf("scrape_configs: [{job_name: qos, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{targets: [%q]}]}]", d.scrape))
	measured := map[string]string{"0.02": "stand-up", "0.12": "planning / Q3", "0.7": "Rückblick"} // by value in seconds
	for value, conference := range measured {
		seconds, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err)
		d.measure(t, conference, int(seconds*1000+0.5))
	}
	var found map[string]exemplar
	require.Eventually(t, func() bool {
		found = exemplars(s, "qos_stream_rtt_seconds_bucket")
		return len(found) == len(measured)
	}, timeseriestest.Patience, timeseriestest.Pause)
	for value, conference := range measured {
		x := found[value]
		link := fmt.Sprintf("http://%s/trace/%s?at=%d", d.dashboard, x.Labels["trace_id"], int64(x.Timestamp*1000))
		resp, err := timeseriestest.Client.Get(link) // follows the redirect
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", link, body)
		opened := resp.Request.URL
		require.Equal(t, []string{"/conference", harness.AppID, conference}, []string{opened.Path, opened.Query().Get("app"), opened.Query().Get("id")})
		require.Contains(t, string(body), "<html")

		var answer json.RawMessage
		resp, err = timeseriestest.Client.Get("http://" + d.dashboard + "/api/conference?" + opened.RawQuery) // the page's own request
		require.NoError(t, err)
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(answer), strconv.Quote(conference))
	}
}
