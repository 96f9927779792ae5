package timeseriestest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// Patience bounds the wait for a state, and Pause is the interval between two checks.
const (
	Patience = 2 * time.Minute
	Pause    = 20 * time.Millisecond
)

// Client keeps no connection: goroutines that are left fail a package.
var Client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Process is a program that can be ended and started again.
type Process struct {
	t      *testing.T
	client *http.Client // of its requests
	line   []string
	ready  string // URL that answers 200 when it serves
	cmd    *exec.Cmd
	ended  chan struct{} // closed when cmd has ended
	log    *os.File
}

// NewProcess starts a program and waits until the URL ready answers 200. It ends with the test.
func NewProcess(t *testing.T, client *http.Client, ready string, line ...string) *Process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	p := &Process{t: t, client: client, line: line, ready: ready, log: log}
	t.Cleanup(func() {
		p.End(syscall.SIGKILL)
		if t.Failed() {
			const most = 4000
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", filepath.Base(line[0]), text[max(0, len(text)-most):])
		}
		_ = log.Close()
	})
	p.Start()
	return p
}

// Start starts the program again. It fails the test if the program ends instead.
func (p *Process) Start() {
	p.t.Helper()
	p.cmd = exec.Command(p.line[0], p.line[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(p.t, p.cmd.Start())
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(p.cmd, p.ended)
	deadline := time.After(Patience)
	for !p.isReady() {
		select {
		case <-p.ended:
			require.FailNow(p.t, "it has ended")
		case <-deadline:
			require.FailNow(p.t, "it does not serve")
		case <-time.After(Pause):
		}
	}
}

func (p *Process) isReady() bool {
	resp, err := p.client.Get(p.ready)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// End ends the program and waits for it.
func (p *Process) End(signal syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(signal)
		<-p.ended
		p.cmd = nil
	}
}

// Binary starts a collector with configurations, which are merged, and waits until its health
// check answers.
func Binary(t *testing.T, path, health string, configs ...string) *Process {
	t.Helper()
	return binaryAt(t, path, "http://"+health+"/status", configs...)
}

func binaryAt(t *testing.T, path, ready string, configs ...string) *Process {
	t.Helper()
	line := []string{path}
	for _, config := range configs {
		file, err := os.CreateTemp(t.TempDir(), "config-*.yaml")
		require.NoError(t, err)
		_, err = file.WriteString(config)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		line = append(line, "--config", file.Name())
	}
	return NewProcess(t, Client, ready, line...)
}

// Collector starts the collector of the distribution.
func Collector(t *testing.T, health string, configs ...string) *Process {
	t.Helper()
	return Binary(t, harness.Binary(t), health, configs...)
}

// CollectorAt starts it and waits until the URL ready answers 200: for configurations without a health
// check.
func CollectorAt(t *testing.T, ready string, configs ...string) *Process {
	t.Helper()
	return binaryAt(t, harness.Binary(t), ready, configs...)
}

// Quiet is the telemetry of a collector that logs errors alone and serves no metrics.
const Quiet = `telemetry: {logs: {level: error, encoding: console}, metrics: {level: none}}`
