package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/qosrtc/qos/internal/testenv"
	"github.com/qosrtc/qos/tests/namespace"
)

// insideEnv is set in the process that runs in the namespace.
const insideEnv = "QOS_E2E_INSIDE"

// skipReason says why no test of this package can run here.
var skipReason string

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		skipReason = "-short: end-to-end tests start browsers"
		os.Exit(m.Run())
	}
	if os.Getenv(insideEnv) == "" {
		code, err := runInside()
		if err == nil {
			os.Exit(code)
		}
		skipReason = fmt.Sprintf("no network namespace to be had: %v", err)
		os.Exit(m.Run())
	}
	// Tests that run in parallel wait for browsers and networks, not for a processor.
	if err := flag.Set("test.parallel", "16"); err != nil {
		skipReason = err.Error()
	}
	if err := namespace.LoopbackUp(); err != nil {
		skipReason = fmt.Sprintf("loopback of the namespace: %v", err)
	}
	os.Exit(m.Run())
}

// need skips the test where what it needs is missing, or fails it where it is required.
func need(t *testing.T, programs ...string) {
	t.Helper()
	reason := skipReason
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil && reason == "" {
			reason = name + " is not installed"
		}
	}
	switch {
	case reason == "":
	case testing.Short():
		t.Skip(reason)
	default:
		testenv.Missing(t, errors.New(reason))
	}
}

// runInside runs this test binary again in a network namespace of its own: browsers would
// otherwise offer the machine's real addresses to each other and look for their vendors.
func runInside() (int, error) {
	runtime.LockOSThread() // Pdeathsig means the death of the thread that started the child
	binaries, cleanUp := binaryEnvironment()
	defer cleanUp()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), append(binaries, insideEnv+"=1")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	namespace.Isolate(cmd, 0)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// binaryEnvironment names the binaries to test, or why there are none: tests that need none
// run all the same.
func binaryEnvironment() (env []string, cleanUp func()) {
	cleanUp = func() {}
	dir := ""
	for _, b := range binaries {
		if os.Getenv(b.env) != "" {
			continue
		}
		var err error
		if dir == "" {
			dir, err = os.MkdirTemp("", "qos-e2e-")
			cleanUp = func() { _ = os.RemoveAll(dir) } // a leftover in the temporary directory
		}
		if err == nil {
			err = buildBinary(filepath.Join(dir, b.name), b.source)
		}
		if err != nil {
			env = append(env, b.failed+"="+err.Error())
			continue
		}
		env = append(env, b.env+"="+filepath.Join(dir, b.name))
	}
	return env, cleanUp
}
