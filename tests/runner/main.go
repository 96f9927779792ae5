// Command runner runs the tests of the repository: `make test` and `make test-long` call it, and `make quick`.
//
//	runner [-long] [package | package/TestName | client ...]
//	runner -quick
//
// It compiles every test binary once, runs several at a time, each in a network namespace and a temporary directory
// of its own, and prints a line at least every 30 s. A failed test runs once more, alone: when it passes, it is flaky,
// or the machine had no processor for it (starved). The last line has the count of tests.
//
// Exit code 1 reports a failed test or build, 2 a run that could not begin, 130 an interrupted one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// errTests is the result of a run in which tests failed; the summary has the details.
var errTests = errors.New("tests failed")

func main() {
	os.Exit(code(os.Args[1:])) //nolint:forbidigo // of main
}

// code runs the command and returns its exit code.
func code(args []string) int {
	if len(args) > 0 && args[0] == insideFlag {
		fmt.Fprintln(os.Stderr, inside(args[1:]))
		return 2
	}
	long := flag.Bool("long", false, "run what `make test-long` runs")
	count := flag.Int("count", 1, "how often each test runs")
	quick := flag.Bool("quick", false, "run the tests of changed packages and of those that import them, for 60 s")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, *long, *quick, *count, flag.Args())
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case errors.Is(err, errTests):
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, "runner:", err)
		return 2
	}
	return 0
}

func start(ctx context.Context, long, quick bool, count int, only []string) error {
	if quick {
		return runQuick(ctx, os.Stdout)
	}
	markdown, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		return fmt.Errorf("the runner starts in the root of the repository: %w", err)
	}
	tests, err := plan.Read(string(markdown))
	if err != nil {
		return fmt.Errorf("CONTRIBUTING.md: %w", err)
	}
	which := plan.Test
	if long {
		which = plan.Long
	}
	r := &run{command: which, plan: tests, only: only, count: count, strict: os.Getenv("CI") == "true", out: os.Stdout}
	return r.do(ctx)
}
