package monitoring

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/qosrtc/qos/deploy/grafana"
	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// allComponents adds to the harness's configuration the components of the project that it lacks.
const allComponents = `
extensions:
  qosaccess: {storage: qosstorage}
  qosrules: {}
  qosturn: {}
  qosdemo: {endpoint: %q, backend_url: "http://localhost:1", app_id: demo, app_secret: demo-secret}
connectors: {qosseries: {}}
exporters:
  qostimeseries: {endpoint: %q}
  debug: {}
service:
  extensions: [healthcheckv2, qosaccess, qosapps, qosrules, qosstorage, qosdashboard, qosturn, qosdemo]
  pipelines:
    logs: {exporters: [qosstore, qostimeseries, qoswebhook, qosseries]}
    metrics: {receivers: [qosseries], exporters: [debug]}
`

// fresh starts a collector with all components, to which no client has connected.
func fresh(t *testing.T) *harness.Collector {
	t.Helper()
	c := harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(t.TempDir()), Dashboard: harness.FreeAddress(t), Webhooks: `{dashboard_url: "http://localhost:1"}`,
		More: fmt.Sprintf(allComponents, harness.FreeAddress(t), harness.FreeAddress(t)),
	})
	c.Start()
	return c
}

// component is the part of a component's metadata.yaml that describes its own metrics.
type component struct {
	Attributes map[string]struct {
		Enum         []string
		NameOverride string `yaml:"name_override"`
	}
	Telemetry struct {
		Metrics map[string]struct {
			Attributes []string
			Sum        *struct{ Monotonic, Async bool }
		}
	}
}

// openAttributes are the attributes without an enumeration whose values are known at the start.
var openAttributes = map[string]func(metric string) []string{
	"metric": func(metric string) []string {
		var names []string
		for _, m := range semconv.Metrics {
			names = append(names, m.Name)
		}
		if strings.HasSuffix(metric, "overflow_records") {
			names = append(names, series.AllMetrics)
		}
		return names
	},
}

// counted returns the labels of each series that the counters of a component can have, by metric. It
// leaves out the counters that are read when they are scraped, and those whose attributes are open.
func (c *component) counted() map[string][][]string {
	all := map[string][][]string{}
metrics:
	for name, m := range c.Telemetry.Metrics {
		if m.Sum == nil || !m.Sum.Monotonic || m.Sum.Async {
			continue
		}
		found := [][]string{nil}
		for _, attribute := range m.Attributes {
			values := c.Attributes[attribute].Enum
			if open := openAttributes[attribute]; open != nil {
				values = open(name)
			}
			if len(values) == 0 {
				continue metrics
			}
			label := cmp.Or(c.Attributes[attribute].NameOverride, attribute)
			var next [][]string
			for _, labels := range found {
				for _, value := range values {
					next = append(next, append(slices.Clone(labels), fmt.Sprintf("%s=%q", label, value)))
				}
			}
			found = next
		}
		all["otelcol_"+name] = found
	}
	return all
}

// values returns the samples of a name whose labels contain each of the given texts.
func values(m harness.Metrics, name string, labels []string) (found []float64) {
	for sample, value := range m {
		of, rest, _ := strings.Cut(sample, "{")
		has := of == name
		for _, label := range labels {
			has = has && strings.Contains(rest, label)
		}
		if has {
			found = append(found, value)
		}
	}
	return found
}

// conventions are the complaints of promtool about names that the collector chooses: its counters have no suffix.
var conventions = regexp.MustCompile(`(?m)^\S+ counter metrics should have "_total" suffix\n`)

// requireBaseUnits checks the names, units and descriptions of internal telemetry as promtool does.
func requireBaseUnits(t *testing.T, address string) {
	t.Helper()
	text, err := get("http://" + address + "/metrics")
	require.NoError(t, err)
	check := exec.CommandContext(t.Context(), testenv.Program(t, "promtool"), "check", "metrics")
	check.Stdin = bytes.NewReader(text)
	out, _ := check.CombinedOutput() // fails by the conventions
	require.NotEmpty(t, out)
	require.Empty(t, conventions.ReplaceAllString(string(out), ""))
}

var (
	selector    = regexp.MustCompile(`\b(otelcol_\w+)(?:\{([^}]*)\})?`)
	alternative = regexp.MustCompile(`(\w+)=~?"([\w|]+)"`)
)

// TestCountersBeginAtZero scrapes a collector to which no client has connected. Each counter of its
// components has all series that it can have, at 0, and so has each that a rule or a dashboard uses:
// a store computes the increase to the first value of a series only if it has an earlier one. Names have base units.
//
// spec: DASH-04
func TestCountersBeginAtZero(t *testing.T) {
	t.Parallel()
	c := fresh(t)
	require.Eventually(t, func() bool { return len(values(c.Metrics(), "otelcol_processor_conference_kept", nil)) > 0 },
		harness.Patience, 50*time.Millisecond, "the first evaluation records gauges")
	scraped := c.Metrics()
	requireBaseUnits(t, c.Telemetry())
	files, err := filepath.Glob("../../*/*/metadata.yaml")
	require.NoError(t, err)
	checked := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c component
		require.NoError(t, yaml.Unmarshal(text, &c))
		for name, all := range c.counted() {
			checked[name] = true
			for _, labels := range all {
				require.Equal(t, []float64{0}, values(scraped, name, labels), "%s: %s%v has one data point, 0 (internal/metrics/zeros)", file, name, labels)
			}
			require.Len(t, values(scraped, name, nil), len(all), "%s: %s has series that metadata.yaml does not list", file, name)
		}
	}
	require.Greater(t, len(checked), 40)

	foreign := slices.Concat(slices.Collect(maps.Values(stock))...)
	uses := 0
	check := func(where, expr string) {
		for _, found := range selector.FindAllStringSubmatch(expr, -1) {
			if slices.Contains(foreign, found[1]) {
				continue
			}
			uses++
			require.Equal(t, 0.0, slices.Max(append(values(scraped, found[1], nil), 0)), "%s: %s", where, found[0])
			require.NotEmpty(t, values(scraped, found[1], nil), "%s: %s has no first data point", where, found[0])
			for _, matcher := range alternative.FindAllStringSubmatch(found[2], -1) {
				for one := range strings.SplitSeq(matcher[2], "|") {
					require.NotEmpty(t, values(scraped, found[1], []string{fmt.Sprintf("%s=%q", matcher[1], one)}), "%s: %s of %s", where, one, found[0])
				}
			}
		}
	}
	rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	for _, expr := range expressions.FindAllStringSubmatch(string(rules), -1) {
		check("qos.rules.yaml", expr[1])
	}
	for _, d := range grafana.Dashboards() {
		for _, panel := range d.Panels {
			for _, target := range panel.Targets {
				check(d.UID+": "+panel.Title, target.Expr)
			}
		}
	}
	require.Greater(t, uses, 30)
}

// TestFirstFailureIncreases: the first frame that a new collector refuses is an increase in Prometheus.
//
// spec: DASH-04
func TestFirstFailureIncreases(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "prometheus")
	c := fresh(t)
	p := startPrometheus(t, t.TempDir(), fmt.Sprintf(
		"scrape_configs: [{job_name: qos-collector, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{targets: [%q]}]}]", c.Telemetry()))
	await := func(query string) {
		t.Helper()
		require.Eventually(t, func() bool { return len(p.at(t, query, time.Now())) > 0 }, harness.Patience, 50*time.Millisecond, query)
	}
	await(`sum(otelcol_receiver_qoswss_frames_refused) == 0`)
	client := harness.NewClient([]string{c.URL()}, 1, 0, harness.Habits{})
	require.True(t, client.Login(t.Context()))
	w, err := harness.Dial(t.Context(), c.URL(), false)
	require.NoError(t, err)
	defer w.Close()
	require.True(t, w.Send(append(client.Greeting(), "no JSON")...))
	await(`sum(otelcol_receiver_qoswss_frames_refused) == 1`)
	await(`sum by (code) (increase(otelcol_receiver_qoswss_frames_refused{code="malformed"}[5m])) > 0`)
}
