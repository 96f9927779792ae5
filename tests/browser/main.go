package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/namespace"
)

// insideVariable is "1" in the process that runs in the namespace.
const insideVariable = "QOS_BROWSER_INSIDE"

// errOutside is the reason why this process has no network namespace of its own.
var errOutside = errors.New("TestMain does not call browser.Main")

// Main runs the tests of a package in a process with a network namespace of its own, and returns the exit code. Before
// that, prepare does what needs the network, and returns variables for that process. Without a namespace the
// tests run in this process, where Require ends those that need one.
func Main(m *testing.M, prepare func() (env []string, cleanUp func())) int {
	if os.Getenv(insideVariable) == "" {
		code, err := runInside(prepare)
		if err == nil {
			return code
		}
		errOutside = fmt.Errorf("no network namespace: %w", err)
		return m.Run()
	}
	errOutside = namespace.LoopbackUp()
	return m.Run()
}

// runInside runs this program again in a network namespace of its own.
func runInside(prepare func() (env []string, cleanUp func())) (int, error) {
	runtime.LockOSThread() // Pdeathsig refers to the thread that started the child
	env, cleanUp := prepare()
	defer cleanUp()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), append(env, insideVariable+"=1")...)
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

// Require ends the test as testenv.Missing does if this process has no network namespace of its own, or a program of
// these kinds of browsers is not installed.
func Require(t *testing.T, kinds ...string) {
	t.Helper()
	if errOutside != nil {
		testenv.Missing(t, errOutside)
	}
	for _, kind := range kinds {
		for _, name := range programs[kind] {
			testenv.Program(t, name)
		}
	}
}
