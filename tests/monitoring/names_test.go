package monitoring

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/deploy/grafana"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// stock are the metrics of components that are not of this project.
var stock = map[string][]string{
	"Prometheus":           {"up"},
	"the collector":        {"otelcol_process_cpu_seconds", "otelcol_process_memory_rss", "otelcol_process_uptime"},
	"the exporters' queue": {"otelcol_exporter_queue_size", "otelcol_exporter_queue_capacity"},
	"exporters": {
		"otelcol_exporter_sent_log_records", "otelcol_exporter_send_failed_log_records",
		"otelcol_exporter_sent_metric_points", "otelcol_exporter_send_failed_metric_points",
		"otelcol_exporter_enqueue_failed_log_records", "otelcol_exporter_enqueue_failed_metric_points",
	},
	"memory_limiter": {"otelcol_processor_memory_limiter_refused_log_records"},
}

var (
	metricName    = regexp.MustCompile(`\b(?:(?:app:)?qos[_:]|otelcol_)[a-zA-Z0-9_:]+|\bup\b`)
	documented    = regexp.MustCompile("(?m)^(?:### |\\| `)((?:qos|otelcol)_[a-z0-9_]+)")
	expressions   = regexp.MustCompile(`(?ms)^ +expr: (.*?)^ +(?:-|labels|for|record|alert)`)
	recordingRule = regexp.MustCompile(`(?m)- record: (\S+)`)
)

// TestMetricNames: each metric of the rules and the dashboards is documented, is recorded by a rule, or
// is one of a stock component.
//
// spec: DASH-04, OUT-01
func TestMetricNames(t *testing.T) {
	known := map[string]bool{}
	for _, names := range stock {
		for _, name := range names {
			known[name] = true
		}
	}
	rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	for _, found := range recordingRule.FindAllStringSubmatch(string(rules), -1) {
		known[found[1]] = true
	}
	pages, err := filepath.Glob("../../*/*/documentation.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range append(pages, "../../docs/telemetry.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range documented.FindAllStringSubmatch(string(text), -1) {
			known[found[1]] = true
		}
	}
	uses := 0
	check := func(where, text string) {
		for _, name := range metricName.FindAllString(text, -1) {
			uses++
			histogram := name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				histogram = strings.TrimSuffix(histogram, suffix)
			}
			require.True(t, known[name] || known[histogram], "%s: %s is not documented", where, name)
		}
	}
	for _, expr := range expressions.FindAllStringSubmatch(string(rules), -1) {
		check("qos.rules.yaml", expr[1])
	}
	for _, d := range grafana.Dashboards() {
		for _, panel := range d.Panels {
			for _, target := range panel.Targets {
				check(d.UID+": "+panel.Title, target.Expr)
			}
		}
		for _, v := range d.Templating.List {
			check(d.UID+": $"+v.Name, v.Definition)
		}
	}
	require.Greater(t, uses, 150)
}

// failing is the configuration of a collector whose exporters cannot deliver, beside that of the harness.
const failing = `
exporters:
  otlphttp/queued: {endpoint: "http://%s", sending_queue: {enabled: true, queue_size: 1000}}
  qostimeseries/dead: {endpoint: %[2]q, push: {endpoint: "http://%[1]s", interval: 200ms}}
  qostimeseries/full: {endpoint: %[5]q, push: {endpoint: "http://%[1]s", interval: 200ms, sending_queue: {queue_size: 1}}}
  qostimeseries/refused: {endpoint: %[3]q, push: {endpoint: %[4]q, interval: 200ms}}
  otlphttp/failing: {endpoint: "http://%[1]s", sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
service:
  pipelines:
    logs: {exporters: [qosstore, otlphttp/queued, otlphttp/failing, qostimeseries/dead, qostimeseries/full, qostimeseries/refused]}
`

// TestFailuresAreScraped provokes the failures that alerts of collectors are about, in real collectors,
// and finds the metric of each in a scrape, under the name and with the labels of its alert.
//
// spec: DASH-04
func TestFailuresAreScraped(t *testing.T) {
	t.Parallel()
	server, dsn := postgrestest.Shared(t), postgrestest.Database(t)
	database := dsn[strings.LastIndexByte(dsn, '/')+1 : strings.IndexByte(dsn, '?')]
	server.Exec(t, database, `DO $$ BEGIN CREATE ROLE scraped LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`)
	server.Exec(t, database, "ALTER DATABASE "+database+" OWNER TO scraped")
	refuser := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(refuser.Close)
	extra := filepath.Join(t.TempDir(), "failing.yaml")
	require.NoError(t, os.WriteFile(extra, fmt.Appendf(nil, failing, harness.FreeAddress(t), harness.FreeAddress(t), harness.FreeAddress(t), refuser.URL, harness.FreeAddress(t)), 0o600))
	dashboard := harness.FreeAddress(t)
	c := harness.NewCollector(t, harness.Options{
		Storage:   fmt.Sprintf(`{postgres: {dsn: %q}, retention: 1h, pack_after: 1s}`, strings.Replace(dsn, "//qos:", "//scraped:", 1)),
		Dashboard: dashboard,
		Launcher:  []string{"/bin/sh", "-c", `exec "$@" --config ` + extra, "collector"},
	})
	c.Start()
	c.Kill()
	// What the housekeeping and the pages read is refused.
	server.Exec(t, database, `DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class
		WHERE relname LIKE 'qos\_%' AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('qos_migration', 'qos_setting', 'qos_setting_counter')
		LOOP EXECUTE format('REVOKE ALL ON %I FROM scraped', t); END LOOP; END $$`)
	c.Start()
	load(t, c)
	require.Eventually(t, func() bool {
		_, err := get("http://" + dashboard + "/api/conferences")
		m := c.Metrics()
		return err != nil && m.Sum("otelcol_qosdashboard_store_errors") > 0 &&
			m.Sum("otelcol_qosstorage_pack_failures") > 0 && m.Sum("otelcol_qosstorage_retention_failures") > 0 &&
			m.Sum("otelcol_exporter_queue_size", `exporter="otlphttp/queued"`) > 0 &&
			m.Sum("otelcol_exporter_queue_capacity", `exporter="otlphttp/queued"`) == 1000 &&
			m.Sum("otelcol_exporter_send_failed_log_records", `exporter="otlphttp/failing"`) > 0 &&
			m.Sum("otelcol_exporter_send_failed_metric_points", `exporter="qostimeseries/refused"`) > 0 &&
			m.Sum("otelcol_exporter_enqueue_failed_metric_points", `exporter="qostimeseries/full"`) > 0 &&
			m.Sum("otelcol_exporter_queue_size", `exporter="qostimeseries/dead"`) > 1 &&
			m.Sum("otelcol_exporter_send_failed_metric_points", `exporter="qostimeseries/dead"`) == 0
	}, harness.Patience, 100*time.Millisecond)
}
