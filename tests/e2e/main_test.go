package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/qosrtc/qos/tests/browser"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Tests that run in parallel wait for browsers and networks, not for a processor.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(browser.Main(m, binaryEnvironment))
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
