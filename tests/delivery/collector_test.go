package delivery

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const (
	appID     = "demo"
	appSecret = "demo-secret"
	origin    = "http://localhost:8483"
	patience  = 30 * time.Second // for what must come
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is the real binary. It can be killed and started again on the same addresses.
type collector struct {
	t      *testing.T
	dir    string
	binary string
	url    string
	health string
	cmd    *exec.Cmd
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, dir: t.TempDir(), binary: os.Getenv("QOS_COLLECTOR")}
	if c.binary == "" {
		c.binary = filepath.Join(c.dir, "qos-collector")
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", c.binary, "./collector")
		build.Dir = filepath.Join("..", "..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	receiver, health := freeAddress(t), freeAddress(t)
	c.url, c.health = "http://"+receiver+"/", "http://"+health+"/status"
	require.NoError(t, os.WriteFile(c.config(), fmt.Appendf(nil, configText,
		health, filepath.Join(c.dir, "key"), appID, appSecret, origin, c.store(), receiver), 0o600))
	return c
}

func (c *collector) config() string { return filepath.Join(c.dir, "config.yaml") }
func (c *collector) store() string  { return filepath.Join(c.dir, "store") }

// configText is deploy/run.yaml without what nobody looks at here.
const configText = `
extensions:
  healthcheckv2: {use_v2: true, http: {endpoint: %q}}
  qosapps:
    key_file: %q
    apps: [{id: %s, secrets: [%s], origins: [%q]}]
  qosstorage: {directory: %q}
receivers:
  qoswss: {endpoint: %q, apps: qosapps, max_frames_per_second: 150}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 1024}
  quality:
  conference:
exporters:
  qosstore: {storage: qosstorage}
service:
  extensions: [healthcheckv2, qosapps, qosstorage]
  pipelines:
    logs:
      receivers: [qoswss]
      processors: [memory_limiter, quality, conference]
      exporters: [qosstore]
  telemetry:
    logs: {level: error, encoding: console}
    metrics: {level: none}
`

// freeAddress is a port of loopback that nobody listened on a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// start runs the binary until kill or stop, and waits until it is healthy.
func (c *collector) start() {
	c.t.Helper()
	c.cmd = exec.Command(c.binary, "--config", c.config())
	c.cmd.Stderr = os.Stderr
	require.NoError(c.t, c.cmd.Start())
	cmd := c.cmd
	c.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	require.Eventually(c.t, c.healthy, patience, 20*time.Millisecond)
}

func (c *collector) healthy() bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(c.health)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// kill ends it as a power cut would, but for the disk.
func (c *collector) kill() {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Kill())
	require.Error(c.t, c.cmd.Wait())
}

// stop ends it as an operator would.
func (c *collector) stop() {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(c.t, c.cmd.Wait())
}
