package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Len(t, alerts, 22)
	for _, alert := range alerts {
		require.Contains(t, string(runbook), "\n## "+alert[1]+"\n")
		require.Contains(t, string(rules), "runbook.md#"+strings.ToLower(alert[1])+"\n")
		require.Regexp(t, `alertname: `+alert[1]+`\n +exp_alerts:\n +- exp_labels`, string(tests), "a test in which it fires")
	}
}
