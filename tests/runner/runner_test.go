package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// files are a repository with a test of each fate. Flaky tests fail when a file is missing, and make it.
var files = map[string]string{
	"go.mod": "module github.com/qosrtc/qos\n\ngo 1.26\n",
	"CONTRIBUTING.md": "| tests | run by | reason |\n| --- | --- | --- |\n| `tests/good` | both | it passes |\n" +
		"| `tests/good` `TestSoak` | `make test-long` | it is long |\n",
	"Makefile":            "prepared fuzz-doors:\n\t@echo $@\n",
	"client/package.json": `{"scripts": {"check": "echo '      Tests  7 passed | 2 skipped (9)'"}}`,
	"tests/stock/go.mod":  "module stock\n",
	"tests/stock/a.go":    "package stock\n",
	"tests/good/good_test.go": `package good
import ("os"; "os/exec"; "testing")
func TestGood(t *testing.T) { t.Run("sub", func(*testing.T) {}) }
func TestSoak(t *testing.T) { if os.Getenv("QOS_LONG") != "1" { t.Fatal("it is in make test") } }
func TestLeaves(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil { t.Fatal(err) }
}
`,
	"internal/raced/raced_test.go": `package raced
import "testing"
func TestSkipped(t *testing.T) { t.Skip("a program is not installed") }
`,
}

const (
	failing = `package bad
import "testing"
func TestBad(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("one is not two") }) }
func TestFine(*testing.T) {}
`
	flakyTest = `package bad
import ("os"; "testing")
func TestFlaky(t *testing.T) {
	_, err := os.Stat("once")
	os.WriteFile("once", nil, 0o600)
	if err != nil { t.Error("for the first time") }
}
`
	panicking = `package bad
import "testing"
func TestPanics(*testing.T) { go panic("in a goroutine"); select {} }
`
	listening = `package bad
import ("net"; "testing")
func TestListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:ADDRESS")
	if err != nil { t.Fatal(err) }
	l.Close()
}
`
	wrong     = "package bad\nfunc TestNothing( {}\n"
	undefined = "package bad\nimport \"testing\"\nfunc TestUndefined(*testing.T) { nothing() }\n"
	waiting   = `package bad
import ("os"; "os/exec"; "testing")
func TestWaits(*testing.T) {
	cmd := exec.Command("sleep", "1000")
	_ = cmd.Start()
	_ = os.WriteFile("started", nil, 0o600)
	select {}
}
`
)

// repository writes the files, and further ones, into a directory.
func repository(t *testing.T, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, set := range []map[string]string{files, more} {
		for name, text := range set {
			path := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	return dir
}

// runner is the command in a repository, without the environment of the run that this test is part of.
func runner(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "QOS_") && !strings.HasPrefix(entry, "CI=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(append(cmd.Env, asRunner+"=1"), env...)
	return cmd
}

const asRunner = "QOS_TEST_AS_RUNNER"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// output runs the runner and returns what it printed and its exit code.
func output(t *testing.T, dir string, env []string, args ...string) (text string, code int) {
	t.Helper()
	out, err := runner(t, dir, env, args...).CombinedOutput()
	exit := new(exec.ExitError)
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	require.NoError(t, err, string(out))
	return string(out), 0
}

// sleeping counts the processes that the repositories' tests left.
func sleeping(t *testing.T) (n int) {
	t.Helper()
	for _, pid := range processes() {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if bytes.Equal(line, []byte("sleep\x001000\x00")) {
			n++
		}
	}
	return n
}

func TestRunOfEachFate(t *testing.T) {
	ci := []string{"CI=true"}
	for name, c := range map[string]struct {
		more map[string]string
		env  []string
		args []string
		code int
		has  []string // regular text of the output, in any place
		not  string
	}{
		"all pass": {
			has: []string{
				"ok   tests/good", "ok   client", "\n10 passed, 0 failed, 3 skipped\n", "a program is not installed: internal/raced/TestSkipped",
			},
			not: "run these alone",
		},
		"long": {args: []string{"-long"}, has: []string{"ok   tests/good", "ok   fuzz", "\n4 passed, 0 failed, 0 skipped\n"}, not: "client"},
		"only": {args: []string{"./tests/good/TestGood"}, has: []string{"\n2 passed, 0 failed, 0 skipped\n"}, not: "client"},
		"none": {args: []string{"tests/goood"}, code: 2, has: []string{"`make test` has no test tests/goood"}},
		"a failure": {
			more: map[string]string{"internal/bad/bad_test.go": failing}, code: 1,
			has: []string{"bad_test.go:3: one is not two", "FAIL internal/bad", "failed:\n  internal/bad/TestBad\n", `ONLY="internal/bad/TestBad"`, "\n11 passed, 2 failed, 3 skipped\n"},
		},
		"flaky": {
			more: map[string]string{"internal/bad/bad_test.go": flakyTest},
			has:  []string{"flaky (failed, and passed when they ran again alone):\n  internal/bad/TestFlaky", "\n11 passed, 0 failed, 3 skipped\n"},
		},
		"flaky in CI": {more: map[string]string{"internal/bad/bad_test.go": flakyTest}, env: ci, code: 1, has: []string{"  internal/bad/TestFlaky"}},
		"a panic": {
			more: map[string]string{"internal/bad/bad_test.go": panicking}, code: 1,
			has: []string{"panic: in a goroutine", "failed:\n  internal/bad/TestPanics\n", " 1 failed, "},
		},
		"no Go":           {more: map[string]string{"internal/bad/bad_test.go": wrong}, code: 2, has: []string{"internal/bad/bad_test.go:2:19"}},
		"does not build":  {more: map[string]string{"internal/bad/bad_test.go": undefined}, code: 2, has: []string{"bad_test.go:3:34: undefined: nothing"}},
		"no program":      {env: []string{"CI=true", "PATH=" + onlyGo(t)}, code: 2, has: []string{"every program has to be installed; missing: chromium, ", "apt-get install chromium "}, not: "took"},
		"no table":        {more: map[string]string{"CONTRIBUTING.md": "Read the code.\n"}, code: 2, has: []string{"CONTRIBUTING.md: no table"}},
		"no table's rows": {more: map[string]string{"CONTRIBUTING.md": "| tests | run by | reason |\n"}, code: 2, has: []string{"CONTRIBUTING.md: the table has no rows"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, code := output(t, repository(t, c.more), c.env, c.args...)
			require.Equal(t, c.code, code, text)
			for _, part := range c.has {
				require.Contains(t, text, part)
			}
			if c.not != "" {
				require.NotContains(t, text, c.not)
			}
		})
	}
	require.Zero(t, sleeping(t), "processes that tests left")
}

// TestPortInUse: a port that another process has is free in the network of a test.
func TestPortInUse(t *testing.T) {
	if os.Geteuid() != 0 {
		testenv.Missing(t, errors.New("root is needed for a network namespace"))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	dir := repository(t, map[string]string{"internal/bad/bad_test.go": strings.Replace(listening, "ADDRESS", port, 1)})
	text, code := output(t, dir, nil, "internal/bad")
	require.Zero(t, code, text)
}

// onlyGo is a search path with the go command alone.
func onlyGo(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("go")
	require.NoError(t, err)
	return filepath.Dir(path)
}

// TestInterruptedRunLeavesNothing: neither SIGTERM nor the runner's death leaves a process or a directory for long.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	dir := repository(t, map[string]string{"internal/bad/bad_test.go": waiting})
	tmp := []string{"TMPDIR=" + t.TempDir()}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		cmd := runner(t, dir, tmp, "internal/bad")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		started := filepath.Join(dir, "internal/bad/started")
		require.Eventually(t, func() bool { return os.Remove(started) == nil }, time.Minute, 10*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		require.Error(t, cmd.Wait())
		if signal == syscall.SIGTERM {
			require.Equal(t, 130, cmd.ProcessState.ExitCode(), out.String())
			require.Zero(t, sleeping(t))
		}
	}
	text, code := output(t, dir, tmp, "tests/good/TestGood") // the next run ends what the killed one left
	require.Zero(t, code, text)
	require.Zero(t, sleeping(t))
	left, err := filepath.Glob(strings.TrimPrefix(tmp[0], "TMPDIR=") + "/*")
	require.NoError(t, err)
	require.Empty(t, left)
}
