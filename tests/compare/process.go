package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/qosrtc/qos/tests/kit/bench"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// process is a server on its own core.
type process struct {
	cmd     *exec.Cmd
	address string
	dir     string // its files; empty: none
	pprof   string // address of its profiles; empty: none
	input   io.WriteCloser
	output  *bufio.Reader
}

// start starts a server of this kind. The caller must stop it.
func (e *env) start(kind string) (*process, error) {
	switch kind {
	case kindStore:
		return e.startCollector(inSQLite, always(receiverConfig))
	case kindPostgres:
		return e.startCollector(e.database.store, always(receiverConfig))
	case kindLimited:
		return e.startCollector(inSQLite, always(limitedConfig))
	}
	p := &process{cmd: exec.Command(os.Args[0], "-serve", kind)}
	if kind == kindAppend || kind == kindObserver {
		p.cmd = exec.Command("node", filepath.Join(e.options.node, "server.mjs"), kind)
	}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := bench.OnCore(serverCore, p.cmd.Start); err != nil {
		return nil, err
	}
	p.output = bufio.NewReader(out)
	line, err := p.output.ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

// collectorConfig is the whole pipeline with a store that commits.
const collectorConfig = `
extensions:
  qosapps: %s
  qosstorage: %s
  pprof: {endpoint: %q}
receivers:
  qoswss: %s
processors:
  quality:
  conference: {storage: qosstorage}
exporters:
  qosstore: {storage: qosstorage}
  qostimeseries: {endpoint: %q}
service:
  extensions: [qosapps, qosstorage, pprof]
  pipelines:
    logs: {receivers: [qoswss], processors: [quality, conference], exporters: [qosstore, qostimeseries]}
  telemetry:
    logs: {level: error}
    metrics: {level: none}
`

// always makes a configuration that cannot fail.
func always(config func(address string) map[string]any) func(string) (map[string]any, error) {
	return func(address string) (map[string]any, error) { return config(address), nil }
}

// inSQLite is the configuration of a store in a folder.
func inSQLite(dir string) (map[string]any, error) { return map[string]any{"directory": dir}, nil }

// startCollector starts the whole collector with a store, whose configuration gets a folder, and a receiver.
func (e *env) startCollector(store func(dir string) (map[string]any, error), config func(address string) (map[string]any, error)) (*process, error) {
	dir, err := os.MkdirTemp("", "qos-compare")
	if err != nil {
		return nil, err
	}
	var addresses [3]string
	for i := range addresses {
		if addresses[i], err = freeport.Address(); err != nil {
			return nil, err
		}
	}
	apps, err := json.Marshal(appsConfig(filepath.Join(dir, "key")))
	if err != nil {
		return nil, err
	}
	received, err := config(addresses[0])
	if err != nil {
		return nil, err
	}
	receiver, err := json.Marshal(received)
	if err != nil {
		return nil, err
	}
	stored, err := store(dir)
	if err != nil {
		return nil, err
	}
	storage, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(collectorConfig, apps, storage, addresses[2], receiver, addresses[1]) // JSON is YAML
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(e.options.collector, "--config", file), dir: dir, address: addresses[0], pprof: addresses[2]}
	p.cmd.Stderr = os.Stderr
	if err := bench.OnCore(serverCore, p.cmd.Start); err != nil {
		return nil, err
	}
	return p, p.answers()
}

// answers waits until the server accepts requests.
func (p *process) answers() error {
	for range 300 {
		res, err := http.Get("http://" + p.address + "/")
		if err == nil {
			return res.Body.Close()
		}
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // there is no signal
	}
	return errors.Join(errors.New("no answer within 30 s"), p.stop())
}

// stop ends the server and removes its files.
func (p *process) stop() error {
	if p.input != nil {
		_ = p.input.Close()
	} else {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	err := p.cmd.Wait()
	if p.dir != "" {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}

// cpu is the time on a core of all threads that the server has.
func (p *process) cpu() (total time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return 0, err
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ns)
	}
	return total, nil
}

// profile writes the CPU profile of so long to a file.
func (p *process) profile(ctx context.Context, lasts time.Duration, file string) error {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.pprof, int(lasts.Seconds()))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// state is what a server of this program holds after it collected its garbage.
type state struct {
	Goroutines int
	RSS        int64 // bytes
}

func (p *process) state() (s state, err error) {
	if _, err := io.WriteString(p.input, "state\n"); err != nil {
		return s, err
	}
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return s, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kib, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	s.RSS = kib << 10
	return s, err
}
