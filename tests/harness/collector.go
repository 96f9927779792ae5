package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Patience is how long what must come is waited for.
const Patience = 2 * time.Minute

// Collector is the real binary. It can be killed and started again on the same addresses.
type Collector struct {
	tb      testing.TB
	o       Options
	at      addresses
	config  string
	cmd     *exec.Cmd
	stderr  *os.File
	life    int64 // offset in stderr at which the present life began
	http    http.Client
	started int
}

// NewCollector writes the configuration of a collector. It does not start it.
func NewCollector(tb testing.TB, o Options) *Collector {
	tb.Helper()
	dir := tb.TempDir()
	if o.KeyFile == "" {
		o.KeyFile = filepath.Join(dir, "key")
	}
	if o.FramesPerSecond == 0 {
		o.FramesPerSecond = 150
	}
	c := &Collector{
		tb: tb, o: o, config: filepath.Join(dir, "config.yaml"),
		at:   addresses{FreeAddress(tb), FreeAddress(tb), FreeAddress(tb)},
		http: http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	c.Configure(func(*Options) {})
	var err error
	c.stderr, err = os.Create(filepath.Join(dir, "stderr"))
	require.NoError(tb, err)
	tb.Cleanup(c.cleanUp)
	return c
}

// Configure changes the configuration of the lives to come.
func (c *Collector) Configure(change func(*Options)) {
	c.tb.Helper()
	change(&c.o)
	text, err := c.o.text(c.at)
	require.NoError(c.tb, err)
	require.NoError(c.tb, os.WriteFile(c.config, []byte(text), 0o600))
	require.NoError(c.tb, os.WriteFile(c.more(), []byte("\n"+c.o.More), 0o600))
}

// URL is the back-end URL for clients.
func (c *Collector) URL() string { return "http://" + c.at.receiver + "/" }

// Address is the receiver's host and port.
func (c *Collector) Address() string { return c.at.receiver }

// Telemetry is the host and port of the collector's own metrics.
func (c *Collector) Telemetry() string { return c.at.telemetry }

// Starts counts how often it was started.
func (c *Collector) Starts() int { return c.started }

// Log returns what the collector logged so far.
func (c *Collector) Log() string {
	c.tb.Helper()
	text, err := os.ReadFile(c.stderr.Name())
	require.NoError(c.tb, err)
	return string(text)
}

func (c *Collector) more() string { return c.config + ".more.yaml" }

// Start runs the binary until Kill or Stop, and waits until it is healthy.
func (c *Collector) Start() {
	c.tb.Helper()
	c.Launch()
	c.AwaitHealthy()
}

// Launch runs the binary and does not wait.
func (c *Collector) Launch() {
	c.tb.Helper()
	line := append(append([]string{}, c.o.Launcher...), Binary(c.tb), "--config", c.config)
	if c.o.More != "" {
		line = append(line, "--config", c.more())
	}
	c.checkLog()
	c.cmd = exec.Command(line[0], line[1:]...)
	c.cmd.Stderr = c.stderr
	require.NoError(c.tb, c.cmd.Start())
	c.started++
}

// AwaitHealthy waits until the collector serves.
func (c *Collector) AwaitHealthy() {
	c.tb.Helper()
	require.Eventually(c.tb, func() bool {
		_, err := c.get("http://" + c.at.health + "/status")
		return err == nil
	}, Patience, 10*time.Millisecond)
}

// Health returns what the health check says of all parts, as JSON.
func (c *Collector) Health() string {
	c.tb.Helper()
	body, err := c.get("http://" + c.at.health + "/status?verbose")
	require.NoError(c.tb, err)
	return string(body)
}

// Kill ends it as a power cut would, but for the disk.
func (c *Collector) Kill() {
	c.tb.Helper()
	require.NoError(c.tb, c.cmd.Process.Kill())
	require.Error(c.tb, c.cmd.Wait())
}

// Stop ends it as an operator would.
func (c *Collector) Stop() {
	c.tb.Helper()
	require.NoError(c.tb, c.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(c.tb, c.cmd.Wait())
}

// Freeze stops the process where it is, as a suspended machine or a debugger would. What is
// sent to it waits in its sockets.
func (c *Collector) Freeze() {
	c.tb.Helper()
	require.NoError(c.tb, c.cmd.Process.Signal(syscall.SIGSTOP))
}

// Thaw lets a frozen process go on.
func (c *Collector) Thaw() {
	c.tb.Helper()
	require.NoError(c.tb, c.cmd.Process.Signal(syscall.SIGCONT))
}

// get returns the body of an answer 200.
func (c *Collector) get(url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return body, err
}

// checkLog fails the test if the log of the life that ended is not quiet.
func (c *Collector) checkLog() {
	c.tb.Helper()
	text, err := os.ReadFile(c.stderr.Name())
	require.NoError(c.tb, err)
	if err := checkQuiet(string(text[c.life:])); err != nil {
		c.tb.Error(err)
	}
	c.life = int64(len(text))
}

// cleanUp ends what a failed test left running, and shows what it said.
func (c *Collector) cleanUp() {
	if c.cmd != nil && c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
	_ = c.stderr.Close()
	c.checkLog()
	if text, err := os.ReadFile(c.stderr.Name()); err == nil && c.tb.Failed() {
		c.tb.Logf("the collector said:\n%s", text[max(0, len(text)-8<<10):])
	}
}
