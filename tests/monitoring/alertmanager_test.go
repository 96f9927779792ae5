package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// TestAlertmanager: a Prometheus with the shipped rules evaluates them, and an Alertmanager receives
// the alert about a collector that is not scraped.
//
// spec: DASH-04
func TestAlertmanager(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "prometheus")
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

// TestAlertmanagerExample: Alertmanager accepts the example, and sends a message that links to the
// conferences of the app, as a webhook does, and to the runbook.
//
// spec: DASH-04, OUT-04
func TestAlertmanagerExample(t *testing.T) {
	t.Parallel()
	run(t, rulesDir, "amtool", "check-config", "alertmanager.example.yaml")
	var mu sync.Mutex
	var message []byte
	slack := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		message = body
	}))
	t.Cleanup(slack.Close)
	dir, manager := t.TempDir(), harness.FreeAddress(t)
	example, err := os.ReadFile(rulesDir + "/alertmanager.example.yaml")
	require.NoError(t, err)
	text := string(example)
	for _, change := range [][2]string{{"api_url_file: /etc/alertmanager/slack.url", "api_url: " + slack.URL}, {"group_wait: 30s", "group_wait: 10ms"}} {
		require.Contains(t, text, change[0])
		text = strings.ReplaceAll(text, change[0], change[1])
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alertmanager.yml"), []byte(text), 0o600))
	templates, err := os.ReadFile(rulesDir + "/qos.tmpl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "qos.tmpl"), templates, 0o600))
	serve(t, dir, "http://"+manager+"/-/ready", "prometheus-alertmanager", "--config.file=alertmanager.yml",
		"--storage.path=alerts", "--web.listen-address="+manager, "--cluster.listen-address=")
	started := time.Now().UTC().Truncate(time.Millisecond)
	alert := fmt.Sprintf(`[{"labels":{"alertname":"QoSStreamsBadSlowly","severity":"ticket","app":"a & b"},"startsAt":%q,
		"annotations":{"summary":"4%% was bad","runbook_url":"https://example.org/runbook"}}]`, started.Format(time.RFC3339Nano))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+manager+"/api/v2/alerts", strings.NewReader(alert))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var got struct {
		Attachments []struct {
			Title, Text string
			Link        string `json:"title_link"`
		}
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return json.Unmarshal(message, &got) == nil && len(got.Attachments) == 1
	}, harness.Patience, 20*time.Millisecond)
	one := got.Attachments[0]
	require.Equal(t, "QoSStreamsBadSlowly a & b", one.Title)
	link := fmt.Sprintf("https://qos.example.org/search?app=a+%%26+b&from=%d", started.Add(-time.Hour).UnixMilli())
	require.Equal(t, link, one.Link)
	require.Equal(t, "4% was bad\n"+link+"\nhttps://example.org/runbook", one.Text)
}
