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

// VerifyMain runs the tests of a package, removes the binaries that they built, and fails
// when a goroutine is left that options do not excuse. Call it from TestMain.
func VerifyMain(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(m, append(options, goleak.Cleanup(func(code int) {
		for _, dir := range []string{builtCollector.dir, builtAgent.dir} {
			if dir != "" {
				_ = os.RemoveAll(dir)
			}
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

// build is a binary that the environment names, or that is built once.
type build struct {
	once              sync.Once
	name, folder, env string
	dir               string // where it was built here
	path              string
	err               error
}

var (
	builtCollector = build{name: "qos-collector", folder: "collector", env: "QOS_COLLECTOR"}
	builtAgent     = build{name: "qos-agent", folder: "agent/cmd/qos-agent", env: "QOS_AGENT"}
)

// Binary is the path of the collector.
func Binary(tb testing.TB) string {
	tb.Helper()
	return builtCollector.get(tb)
}

// Agent is the path of the token agent.
func Agent(tb testing.TB) string {
	tb.Helper()
	return builtAgent.get(tb)
}

func (b *build) get(tb testing.TB) string {
	tb.Helper()
	b.once.Do(b.make)
	require.NoError(tb, b.err)
	return b.path
}

func (b *build) make() {
	if b.path = os.Getenv(b.env); b.path != "" {
		return
	}
	if b.dir, b.err = os.MkdirTemp("", "qos-harness"); b.err != nil {
		return
	}
	b.path = filepath.Join(b.dir, b.name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.path, "github.com/qosrtc/qos/"+b.folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.err = fmt.Errorf("%s does not build: %w\n%s", b.name, err, out)
	}
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
