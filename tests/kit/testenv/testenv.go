// Package testenv reports which tests run and which programs they may rely on. The test runner (tests/runner)
// sets its two environment variables.
package testenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const (
	// LongVariable is "1" in `make test-long`.
	LongVariable = "QOS_LONG"
	// RequireVariable is "1" where every program that tests need is installed, as in CI.
	RequireVariable = "QOS_REQUIRE"
)

// Long reports whether tests run in `make test-long`, which has what repeats `make test` in breadth.
func Long() bool { return os.Getenv(LongVariable) == "1" }

// Pick returns short in `make test` and long in `make test-long`.
func Pick[T any](short, long T) T {
	if Long() {
		return long
	}
	return short
}

// Required reports whether a missing program fails a test (true) or skips it (false).
func Required() bool { return os.Getenv(RequireVariable) == "1" }

// Missing ends the test for a reason outside it: as a failure if Required, otherwise as a skipped test.
// The runner prints the reason.
func Missing(tb testing.TB, reason error) {
	tb.Helper()
	if Required() {
		tb.Fatalf("%s=1, but %v", RequireVariable, reason)
		return
	}
	tb.Skip(reason)
}

// Program returns the path of a program. The test ends as in Missing if it is not installed.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := Find(name)
	if err != nil {
		Missing(tb, err)
	}
	return path
}

// Find returns the path of a program, which may also be in /usr/sbin or, for PostgreSQL's, in the folder of the
// newest version that Debian installed.
func Find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.Sort(candidates)
	slices.Reverse(candidates)
	for _, path := range append(candidates, "/usr/sbin/"+name) {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", errors.New(name + " is not installed (`make programs` installs it)")
}
