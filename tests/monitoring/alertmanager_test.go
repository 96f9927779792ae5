package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// TestAlertmanager: a Prometheus with the shipped rules evaluates them, and an Alertmanager receives
// the alert about a collector that is not scraped.
//
// spec: DASH-04
func TestAlertmanager(t *testing.T) {
	program(t, "prometheus")
	dir, manager := t.TempDir(), harness.FreeAddress(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alertmanager.yml"), []byte("route: {receiver: none}\nreceivers: [{name: none}]\n"), 0o600))
	serve(t, dir, "http://"+manager+"/-/ready", "prometheus-alertmanager", "--config.file=alertmanager.yml",
		"--storage.path=alerts", "--web.listen-address="+manager, "--cluster.listen-address=")
	rules, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	fast := string(rules)
	for _, change := range [][2]string{{"interval: 30s", "interval: 1s"}, {"for: 2m", "for: 1s"}} {
		require.Contains(t, fast, change[0])
		fast = strings.ReplaceAll(fast, change[0], change[1])
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(fast), 0o600))
	startPrometheus(t, dir, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs: [{job_name: qos-collector, static_configs: [{targets: [%q]}]}]
`, manager, harness.FreeAddress(t)))
	var alerts []struct {
		Labels, Annotations map[string]string
	}
	require.Eventually(t, func() bool {
		body, err := get("http://" + manager + "/api/v2/alerts")
		return err == nil && json.Unmarshal(body, &alerts) == nil && len(alerts) > 0
	}, harness.Patience, 100*time.Millisecond)
	require.Equal(t, "QoSCollectorDown", alerts[0].Labels["alertname"])
	require.Equal(t, "page", alerts[0].Labels["severity"])
	require.Contains(t, alerts[0].Annotations["runbook_url"], "docs/runbook.md#qoscollectordown")
}
