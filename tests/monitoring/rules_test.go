package monitoring

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const rulesDir = "../../deploy/prometheus"

// TestPrometheusExamples: Prometheus accepts the configurations of the READMEs.
//
// spec: OUT-01, DASH-04
func TestPrometheusExamples(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?ms)^ *```yaml\n( *(?:scrape_configs|rule_files):.*?)^ *```")
	for _, folder := range []string{"../../exporters/timeseriesexporter", "../../deploy/grafana", rulesDir} {
		text, err := os.ReadFile(folder + "/README.md")
		require.NoError(t, err)
		blocks := block.FindAllSubmatch(text, -1)
		require.Len(t, blocks, 1, folder)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(dir+"/prometheus.yaml", blocks[0][1], 0o600))
		rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(dir+"/qos.rules.yaml", rules, 0o600))
		run(t, dir, "promtool", "check", "config", "prometheus.yaml")
	}
}

// unitTests are the files of the rules' unit tests.
func unitTests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(rulesDir + "/*.test.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// TestRulesHold: the unit tests of the rules hold.
//
// spec: DASH-04
func TestRulesHold(t *testing.T) {
	t.Parallel()
	for _, file := range unitTests(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			run(t, rulesDir, "promtool", "test", "rules", filepath.Base(file))
		})
	}
}

// TestRules: Prometheus and vmalert accept the rules, their unit tests have each alert, and each alert has a section in the
// runbook.
//
// spec: DASH-04
func TestRules(t *testing.T) {
	t.Parallel()
	run(t, rulesDir, "promtool", "check", "rules", "qos.rules.yaml")
	run(t, rulesDir, "vmalert", "-dryRun", "-rule=qos.rules.yaml")
	var tests []byte
	for _, file := range unitTests(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tests = append(tests, text...)
	}
	rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	runbook, err := os.ReadFile("../../docs/runbook.md")
	require.NoError(t, err)
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	require.Len(t, alerts, 26)
	for _, alert := range alerts {
		require.Contains(t, string(runbook), "\n## "+alert[1]+"\n")
		require.Contains(t, string(rules), "runbook.md#"+strings.ToLower(alert[1])+"\n")
		require.Regexp(t, `alertname: `+alert[1]+`\n +exp_alerts:\n +- exp_labels`, string(tests), "a test in which it fires")
	}
}

// unalerted are the counters of failures that need no alert, with the reason.
var unalerted = map[string]string{
	"qosaccess_rejected_requests":      "visitors without a login or a role",
	"qosapps_last_use_dropped":         "a display that is late",
	"qosdashboard_failed_summaries":    "the page names the conferences",
	"qosdashboard_rejected_requests":   "visitors",
	"qosdemo_refusals":                 "visitors",
	"qosseries_dropped_records":        "clients whose clock is wrong",
	"qosstorage_follow_overflows":      "the subscriber reads again",
	"qosstore_dropped_search_terms":    "the page of the conference has the number",
	"qostimeseries_dropped_records":    "clients whose clock is wrong",
	"qosturn_refused_connections":      "strangers",
	"qosturn_refused_permissions":      "strangers",
	"receiver_qoswss_requests_refused": "strangers and clients; frames have an alert",
	"receiver_qoswss_user_ids_dropped": "one session has that many users",
}

var failureName = regexp.MustCompile(`fail|drop|refus|reject|error|dead|overflow`)

// TestFailuresAreAlerted: each counter of failures has a rule, or a reason to have none.
//
// spec: DASH-04
func TestFailuresAreAlerted(t *testing.T) {
	rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	files, err := filepath.Glob("../../*/*/metadata.yaml")
	require.NoError(t, err)
	counters := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c component
		require.NoError(t, yaml.Unmarshal(text, &c))
		for name, m := range c.Telemetry.Metrics {
			if m.Sum == nil || !m.Sum.Monotonic || !failureName.MatchString(name) {
				continue
			}
			counters++
			has := regexp.MustCompile(`\botelcol_` + name + `\b`).Match(rules)
			require.NotEqual(t, has, unalerted[name] != "", "%s: %s has a rule, or a reason in unalerted", file, name)
		}
	}
	require.Greater(t, counters, 30)
}

// foreignCounters are those of failures of stock components. They have no zero before their first value.
var foreignCounters = regexp.MustCompile(`increase\((otelcol_(?:exporter_\w+_failed|processor_memory_limiter_refused)_\w+)\[(\w+)\]\)`)

// TestFirstValuesCount: a rule counts the first value of a counter that has no zero before it.
//
// spec: DASH-04
func TestFirstValuesCount(t *testing.T) {
	text, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	rules, n := string(text), 0
	for _, found := range foreignCounters.FindAllStringSubmatch(rules, -1) {
		n++
		require.Contains(t, rules, fmt.Sprintf("(%s unless %[1]s offset %s)", found[1], found[2]))
		require.NotRegexp(t, `rate\(`+found[1], rules)
	}
	require.Equal(t, 5, n)
}
