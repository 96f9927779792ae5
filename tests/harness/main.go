package harness

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// VerifyMain runs the tests of a package, removes the binary that they built, and fails
// when a goroutine is left that options do not excuse. Call it from TestMain.
func VerifyMain(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(m, append(options, goleak.Cleanup(func(code int) {
		if builtIn != "" {
			_ = os.RemoveAll(builtIn)
		}
		os.Exit(code) //nolint:forbidigo // of TestMain
	}))...)
}

// TestsAtOnce sets how many tests with t.Parallel run at once, unless the command line has -parallel. By default it is one
// a core, which is too few for tests that wait for processes and servers. Call it before VerifyMain.
func TestsAtOnce(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

var (
	builtIn string // directory of the binary, where it was built here
	build   = sync.OnceValues(buildCollector)
)

// Binary is the path of the collector.
func Binary(tb testing.TB) string {
	tb.Helper()
	path, err := build()
	require.NoError(tb, err)
	return path
}

func buildCollector() (string, error) {
	if path := os.Getenv("QOS_COLLECTOR"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "qos-harness")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "qos-collector")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/qosrtc/qos/collector")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the collector does not build: %w\n%s", err, out)
	}
	return path, nil
}

// Setting reads a whole number from the environment.
func Setting(tb testing.TB, name string, otherwise int64) int64 {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(tb, err, name)
	return n
}
