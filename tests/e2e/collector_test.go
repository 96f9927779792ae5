package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

const (
	collectorEnv = "QOS_COLLECTOR"       // the binary to test; built here where it is not set
	buildErrEnv  = "QOS_E2E_BUILD_ERROR" // why there is none

	appID     = "demo"
	appSecret = "demo-secret"

	// statsInterval is the shortest there is, so that a call of some seconds has a course.
	statsInterval = 2 * time.Second
)

// binaries are the programs that are driven here.
var binaries = []struct{ name, source, env, failed string }{
	{"qos-collector", "./collector", collectorEnv, buildErrEnv},
	{"qos-agent", "./agent/cmd/qos-agent", agentEnv, agentBuildErrEnv},
}

// buildBinary makes a program. It runs outside the namespace, where modules can be had.
func buildBinary(path, source string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, source)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", source, err, out)
	}
	return nil
}

// collector is a running collector. It can be killed and started again on its addresses.
type collector struct {
	t       *testing.T
	dir     string // its state
	process *browser.Process
	out     *browser.Lines

	storage string   // the configuration of its store
	key     string   // the file of the key that its tokens are sealed with
	origins []string // of the applications' pages
	more    string   // further configuration in YAML, over this one
	records string   // the base URL of a server that gets what the receiver emits, as OTLP; empty: none

	health, receiver, dashboard, metrics, demo, telemetry string // base URLs
}

// newCollector gives a collector its addresses, and a store in files of its own.
func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, dir: t.TempDir()}
	c.storage = fmt.Sprintf("{directory: %q}", c.store())
	c.key = filepath.Join(c.dir, "key")
	for _, base := range []*string{&c.health, &c.receiver, &c.dashboard, &c.metrics, &c.demo, &c.telemetry} {
		*base = "http://" + freeAddress(t)
	}
	c.origins = []string{c.demo}
	t.Cleanup(c.cleanUp)
	return c
}

// startCollector starts the real binary with an empty store and waits until it is healthy.
// Its log and its state are kept when the test fails.
func startCollector(t *testing.T) *collector {
	t.Helper()
	c := newCollector(t)
	c.start()
	return c
}

func (c *collector) start() {
	c.t.Helper()
	c.startFor(c.t)
}

// startFor starts the binary, for the first time or again, in a part of the test that
// newCollector was called in.
func (c *collector) startFor(t *testing.T) {
	t.Helper()
	c.launch(t)
	browser.Eventually(t, patience, "the collector is healthy", func() (bool, string) {
		resp, err := http.Get(c.health + "/status")
		if err != nil {
			return false, err.Error() + "\n" + c.out.String()
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK, resp.Status + "\n" + c.out.String()
	})
}

// launch starts the binary, which may refuse its configuration.
func (c *collector) launch(t *testing.T) {
	t.Helper()
	binary := os.Getenv(collectorEnv)
	if binary == "" {
		t.Fatal(os.Getenv(buildErrEnv))
	}
	config, more := filepath.Join(c.dir, "config.yaml"), filepath.Join(c.dir, "more.yaml")
	require.NoError(t, os.WriteFile(config, []byte(c.config()), 0o600))
	require.NoError(t, os.WriteFile(more, []byte(c.more), 0o600))
	var err error
	c.process, c.out, err = browser.StartProcess(c.dir, binary, "--config", config, "--config", more)
	require.NoError(t, err)
}

// config is that of `make run` (deploy/run.yaml) on free ports, measuring more often.
func (c *collector) config() string {
	address := func(base string) string { return strings.TrimPrefix(base, "http://") }
	exporter, pipeline := "", ""
	if c.records != "" {
		exporter = fmt.Sprintf("\n  otlp_http: {logs_endpoint: %q, encoding: json, compression: none, sending_queue: {enabled: false}}", c.records)
		pipeline = "\n    logs/records: {receivers: [qoswss], exporters: [otlp_http]}"
	}
	return fmt.Sprintf(`
extensions:
  healthcheckv2: {use_v2: true, http: {endpoint: %q}}
  qosapps:
    key_file: %q
    apps: [{id: %s, secrets: [%s], origins: [%s]}]
  qosrules:
  qosstorage: %s
  qosdashboard: {endpoint: %q, storage: qosstorage}
  qosdemo: {endpoint: %q, backend_url: %q, app_id: %s, app_secret: %s}
receivers:
  qoswss: {endpoint: %q, apps: qosapps, dashboard_url: %q, stats_interval: %s}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 1024}
  quality:
  conference:
    storage: qosstorage
exporters:
  qosstore: {storage: qosstorage}
  qostimeseries: {endpoint: %q}%s
service:
  extensions: [healthcheckv2, qosapps, qosrules, qosstorage, qosdashboard, qosdemo]
  pipelines:%s
    logs:
      receivers: [qoswss]
      processors: [memory_limiter, quality, conference]
      exporters: [qosstore, qostimeseries]
  telemetry:
    logs: {level: info, encoding: console}
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]
`, address(c.health), c.key, appID, appSecret, strings.Join(c.origins, ", "), c.storage,
		address(c.dashboard), address(c.demo), c.receiver, appID, appSecret, address(c.receiver), c.dashboard,
		statsInterval, address(c.metrics), exporter, pipeline, c.telemetry[strings.LastIndex(c.telemetry, ":")+1:])
}

func (c *collector) store() string { return filepath.Join(c.dir, "store") }

// stop ends the collector as an operator would; all must be written then.
func (c *collector) stop() {
	c.t.Helper()
	select {
	case <-c.process.Done():
		return // it was stopped before
	default:
	}
	c.process.Signal(syscall.SIGTERM)
	select {
	case <-c.process.Done():
	case <-time.After(patience):
		c.t.Fatal("the collector did not stop\n" + c.out.String())
	}
	require.True(c.t, c.process.Success(), c.out.String())
}

func (c *collector) cleanUp() {
	if c.process == nil {
		return
	}
	c.process.Kill()
	dir := browser.Artifacts(c.t)
	if !c.t.Failed() || dir == "" {
		return
	}
	keep := filepath.Join(dir, browser.FileName(c.t.Name()))
	err := os.RemoveAll(keep)
	if err == nil {
		err = os.CopyFS(keep, os.DirFS(c.dir))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(keep, "collector.log"), []byte(c.out.String()), 0o600)
	}
	c.t.Logf("the collector's state and log: %s (%v)", keep, err)
}

// read returns the body of a page that must be there.
func (c *collector) read(address string) string {
	c.t.Helper()
	body, status, err := fetch(c.t.Context(), address)
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, status, "%s: %s", address, body)
	return body
}

// ask asks the dashboard's API.
func (c *collector) ask(path string, query url.Values, into any) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.read(c.dashboard+path+"?"+query.Encode())), into))
}

func fetch(ctx context.Context, address string) (body string, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), resp.StatusCode, err
}
