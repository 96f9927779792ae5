package monitoring

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/deploy/grafana"
	"github.com/qosrtc/qos/tests/fleet"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// scrapes is the number of scrapes of the collector after which its rates have values.
const scrapes = 5

// TestDashboards runs each query of each dashboard in a Prometheus that has the day of a fleet
// and scrapes a collector.
//
// spec: DASH-04
func TestDashboards(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "prometheus")
	dir, day := t.TempDir(), draw()
	record(t, day).blocks(t, dir)
	collector := loaded(t)
	p := startPrometheus(t, dir, fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: collector
    static_configs: [{targets: [%q]}]
`, collector.Telemetry()))
	require.Eventually(t, func() bool {
		n := p.at(t, `count_over_time(otelcol_exporter_sent_log_records[5m])`, time.Now())
		return len(n) > 0 && n[0].value >= scrapes
	}, harness.Patience, 100*time.Millisecond)

	for _, d := range grafana.Dashboards() {
		t.Run(d.UID, func(t *testing.T) { hasData(t, p, &d) })
	}
	t.Run("figures", func(t *testing.T) { figures(t, p, day) })
	t.Run("causes", func(t *testing.T) { planted(t, p, day) })
}

// loaded returns a collector that a client sends frames to until the end of the test.
func loaded(t *testing.T) *harness.Collector {
	t.Helper()
	collector := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(t.TempDir()), Webhooks: `{dashboard_url: "http://localhost:1"}`})
	collector.Start()
	load(t, collector)
	return collector
}

// load sends frames to a collector until the end of the test.
func load(t *testing.T, collector *harness.Collector) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = harness.NewClient([]string{collector.URL()}, 1, 0, harness.Habits{Calm: true}).Run(ctx, ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
}

// substituted returns a query as Grafana would send it.
func substituted(query string, values map[string]string) string {
	pairs := []string{"$__rate_interval", "10m", "$__range", "24h"}
	for name, value := range values {
		pairs = append(pairs, "$"+name, value)
	}
	return strings.NewReplacer(pairs...).Replace(query)
}

// hasData runs the queries of all panels and variables of a dashboard.
func hasData(t *testing.T, p *prometheus, d *grafana.Dashboard) {
	t.Helper()
	from, to := monday, monday.Add(24*time.Hour)
	values := map[string]string{"app": ".+", "site": ".*", "instance": ".+"}
	switch d.UID {
	case "qos-app":
		values["app"] = fleet.AppShop
	case "qos-site":
		values["site"] = fleet.SiteOslo
	case "qos-collector":
		to = time.Now()
		from = to.Add(-time.Minute)
	}
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			query := substituted(target.Expr, values)
			var found []sample
			if target.Instant {
				found = p.at(t, query, to)
			} else {
				found = p.between(t, query, from, to, max(time.Second, to.Sub(from)/144))
			}
			require.NotEmpty(t, found, "%s: %s", panel.Title, query)
			finite(t, panel.Title, target.LegendFormat, found)
		}
	}
	variables(t, p, d, values)
}

// finite requires values, and the labels that the legend names.
func finite(t *testing.T, title, legend string, found []sample) {
	t.Helper()
	numbers := 0
	for _, s := range found {
		if s.value-s.value == 0 {
			numbers++
		}
		for _, part := range strings.Split(legend, "{{")[1:] {
			label, _, _ := strings.Cut(part, "}}")
			if label != "instance" {
				require.Contains(t, s.labels, label, title)
			}
		}
	}
	require.NotZero(t, numbers, title)
}

// variables requires values of each variable that is a query.
func variables(t *testing.T, p *prometheus, d *grafana.Dashboard, values map[string]string) {
	t.Helper()
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		metric, label, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"), ", ")
		body, err := get("http://" + p.address + "/api/v1/label/" + label + "/values?" + url.Values{"match[]": {substituted(metric, values)}}.Encode())
		require.NoError(t, err)
		require.NotContains(t, string(body), `"data":[]`, v.Name)
	}
}

// one returns the only value of a query at the end of the day.
func one(t *testing.T, p *prometheus, query string) float64 {
	t.Helper()
	found := p.at(t, query, monday.Add(24*time.Hour))
	require.Len(t, found, 1, query)
	return found[0].value
}

// figures compares counters with the truth of the generator.
func figures(t *testing.T, p *prometheus, day *fleet.Day) {
	t.Helper()
	require.Equal(t, float64(len(day.Conferences)), one(t, p, `sum(qos_conferences_total)`))
	for key, n := range day.Truth.Ratings {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_feedback_total{app=%q,site=%q,rating="%s"})`, key.App, key.Site, strconv.Itoa(key.Overall))))
	}
	for key, n := range day.Truth.Errors {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_reported_errors_total{app=%q,application_version=%q,function=%q})`, key.App, key.ApplicationVersion, key.Function)))
	}
	for key, n := range day.Truth.Setups {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_fabric_setup_delay_seconds_count{app=%q,site=%q})`, key.App, key.Site)))
	}
	for key, n := range day.Truth.Failures {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_fabric_setup_failures_total{app=%q,site=%q,stage=%q})`, key.App, key.Site, key.Stage)))
	}
	for key, n := range day.Truth.Disruptions {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_ice_disruptions_total{app=%q,site=%q})`, key.App, key.Site)))
	}
	for key, n := range day.Truth.Sessions {
		require.Equal(t, float64(n), one(t, p, fmt.Sprintf(`sum(qos_participants_total{app=%q,site=%q,browser=%q,browser_version="%d"})`, key.App, key.Site, key.Browser, key.Major)))
	}
}

// planted finds causes of the generator in the metrics.
func planted(t *testing.T, p *prometheus, _ *fleet.Day) {
	t.Helper()
	loss := func(site string, hour int) float64 {
		found := p.at(t, fmt.Sprintf(`histogram_quantile(0.5, sum by (le) (increase(qos_stream_loss_ratio_bucket{site=%q,direction="inbound"}[2h])))`, site), monday.Add(time.Duration(hour)*time.Hour))
		require.Len(t, found, 1)
		return found[0].value
	}
	require.Greater(t, loss(fleet.SitePorto, 18), 0.05, "congestion at porto")
	require.Less(t, loss(fleet.SitePorto, 16), 0.01)
	slow := func(version string) float64 {
		return one(t, p, fmt.Sprintf(`sum(qos_conference_causes_total{app=%q,application_version=%q})`, fleet.AppClinic, version))
	}
	require.Positive(t, slow("2.1.0"))
	require.Positive(t, slow("2.0.3"))
}
