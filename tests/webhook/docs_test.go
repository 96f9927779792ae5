package webhook

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// block returns the only block of a language in a document's first section.
func block(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/webhooks.md")
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "## The body")
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(first, -1)
	require.NotEmpty(t, found)
	return found[len(found)-1][1]
}

// The configuration of docs/webhooks.md starts as it is, without a secret for Slack, and its commands send a test and list
// it: one to this machine is a dead letter at once, with the reason; where allowed_networks has the address it is delivered.
//
// spec: OUT-03
func TestDocs(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	slack := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(slack.Close)
	for _, c := range []struct{ more, state, failure string }{
		{"", "dead", "the address of the webhook is not public, and allowed_networks of qoswebhook does not have it"},
		{"--set=exporters::qoswebhook::allowed_networks=[127.0.0.0/8]", "delivered", ""},
	} {
		t.Run(c.state, func(t *testing.T) {
			dir := t.TempDir()
			ports := strings.NewReplacer("/var/lib/qos", dir, "localhost:8485", freeAddress(t), "localhost:8480", freeAddress(t))
			config := filepath.Join(dir, "config.yaml")
			require.NoError(t, os.WriteFile(config, []byte(ports.Replace(block(t, "yaml"))), 0o600))
			args := []string{"--config=" + config, "--set=service::telemetry::metrics::level=none"}
			if c.more != "" {
				args = append(args, c.more)
			}
			cmd := exec.CommandContext(t.Context(), harness.Binary(t), args...)
			cmd.Env = append(os.Environ(), "SHOP_SECRET=shop-secret", "SLACK_URL="+slack.URL)
			log := &strings.Builder{}
			cmd.Stderr = log
			require.NoError(t, cmd.Start())
			t.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt)
				_ = cmd.Wait()
				if t.Failed() {
					t.Log(log.String())
				}
			})
			lines := strings.Split(strings.TrimSpace(ports.Replace(block(t, "sh"))), "\n")
			require.Len(t, lines, 3)
			run := func(line string) string {
				out, _ := exec.CommandContext(t.Context(), "sh", "-c", lines[0]+"\n"+line).Output()
				return string(out)
			}
			require.Eventually(t, func() bool { return strings.Contains(run(lines[1]), `"reason":"test"`) }, time.Minute, 100*time.Millisecond, "it starts")
			var list struct {
				Deliveries []struct{ State, Error string }
			}
			require.Eventually(t, func() bool {
				return json.Unmarshal([]byte(run(lines[2])), &list) == nil && list.Deliveries[0].State != "pending"
			}, time.Minute, 100*time.Millisecond)
			require.Equal(t, []string{c.state, c.failure}, []string{list.Deliveries[0].State, list.Deliveries[0].Error})
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	return address
}
