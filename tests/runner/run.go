package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// run is one call of the runner.
type run struct {
	command plan.Run
	plan    plan.Plan
	only    []string // packages and tests to which the run is limited; empty: none
	count   int      // how often each test runs
	strict  bool     // as in CI: every program has to be installed, and a flaky test fails the run
	out     io.Writer

	began     time.Time
	state     *state
	history   history
	test2json string
	started   counter
	printing  sync.Mutex
}

// folder has the test binaries and the times of the last run.
const folder = "bin/test"

func (r *run) do(ctx context.Context) (err error) {
	r.began = time.Now()
	if err := r.requirements(); err != nil {
		return err
	}
	if r.state, err = newState(); err != nil {
		return err
	}
	defer r.state.remove()
	if r.test2json, err = test2json(ctx); err != nil {
		return err
	}
	r.history = readHistory()
	results, err := r.runAll(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case len(results) == 0:
		return fmt.Errorf("`%s` has no test %s", r.command, strings.Join(r.only, " "))
	}
	r.again(ctx, results)
	if len(r.only) == 0 {
		r.history.write(results)
	}
	return r.summarise(results)
}

// test2json returns the path of the program of Go's distribution that reads the output of test binaries.
func test2json(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "tool", "-n", "test2json").Output()
	path := strings.TrimSpace(string(out))
	if _, missing := os.Stat(path); err == nil && missing != nil {
		// It is built when it runs for the first time.
		if err = exec.CommandContext(ctx, "go", "tool", "test2json", "-V=full").Run(); err == nil {
			_, err = os.Stat(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("go tool test2json: %w", err)
	}
	return path, nil
}

// environment is that of every job, without the job's own marker and temporary directory.
func (r *run) environment() []string {
	env := append(os.Environ(), "QOS_COLLECTOR="+absolute("bin/qos-collector"), "QOS_AGENT="+absolute("bin/qos-agent"),
		"GORACE=atexit_sleep_ms=0") // by default a process waits for a second at its end
	if r.command == plan.Long {
		env = append(env, "QOS_LONG=1")
	}
	if r.strict {
		env = append(env, "QOS_REQUIRE=1")
	}
	return env
}
