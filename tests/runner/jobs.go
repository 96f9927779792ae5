package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// A job is a process: a test binary with the tests that it runs, or another command.
type job struct {
	name    string // "internal/call/event", "tests/e2e/TestSearch", "client"
	dir     string
	command []string
	tests   []string // top-level tests of a test binary; nil for another command
	binary  binary
	flags   []string
	browser bool // it needs a processor in time, and has priority
	alone   bool // it measures time, and runs with nothing beside it
}

// alone are browser tests that measure milliseconds.
var alone = []string{"TestBeforeTheCallMeasures", "TestBeforeTheCall"}

// prepare compiles what the run needs and passes its jobs to the queue as soon as each can run: browser tests wait for
// clocks most of the time, while the tests with the race detector still compile.
func (r *run) prepare(ctx context.Context, add func(...*job)) error {
	if err := r.progress(ctx, "building the binaries and installing npm packages", nil, "make", "--no-print-directory", "-j3", "prepared"); err != nil {
		return err
	}
	packages, err := testPackages(ctx)
	if err != nil {
		return err
	}
	for _, j := range r.commands() {
		if r.wants(j.name, "") {
			add(j)
		}
	}
	raced, plain := r.chosen(packages)
	for _, set := range []struct {
		packages []*testPackage
		race     bool
	}{{plain, false}, {raced, true}} {
		binaries, err := r.compile(ctx, set.packages, set.race)
		if err != nil {
			return err
		}
		for _, b := range binaries {
			add(r.jobsOf(b)...)
		}
	}
	return nil
}

// chosen divides the packages of which the run has tests by the race detector.
func (r *run) chosen(packages []*testPackage) (raced, plain []*testPackage) {
	for _, p := range packages {
		p.tests = slices.DeleteFunc(p.selected(r.plan, r.command), func(test string) bool { return !r.wants(p.folder, test) })
		withRace, without := divide(p, r.command)
		if len(withRace) > 0 {
			raced = append(raced, p)
		}
		if len(without) > 0 {
			plain = append(plain, p)
		}
	}
	return raced, plain
}

// wants reports whether the run's arguments, if there are any, have a package or a test.
func (r *run) wants(name, test string) bool {
	return len(r.only) == 0 || slices.ContainsFunc(r.only, func(only string) bool {
		only = strings.Trim(strings.TrimPrefix(only, "./"), "/")
		return only == name || only == name+"/"+test
	})
}

// jobsOf returns the jobs of a test binary: one, or one for each browser test.
func (r *run) jobsOf(b binary) (jobs []*job) {
	withRace, without := divide(b.testPackage, r.command)
	tests := without
	if b.race {
		tests = withRace
	}
	if b.folder != plan.Browsers {
		name := b.folder
		if b.race && len(without) > 0 {
			name += " (race)"
		}
		first, again := r.divideByTries(b.testPackage, tests)
		if len(first) > 0 {
			jobs = append(jobs, &job{name: name, dir: b.Dir, tests: first, binary: b, flags: b.flags(b.tries(r.command))})
		}
		if len(again) > 0 {
			jobs = append(jobs, &job{name: name + " (more tries)", dir: b.Dir, tests: again, binary: b, flags: b.flags(moreTries)})
		}
		return jobs
	}
	for _, test := range tests {
		jobs = append(jobs, &job{
			name: b.folder + "/" + test, dir: b.Dir, tests: []string{test}, binary: b,
			browser: true, alone: slices.Contains(alone, test),
		})
	}
	return jobs
}

// divideByTries returns the tests that one command runs, and the properties that `make test-long` checks again.
func (r *run) divideByTries(p *testPackage, tests []string) (first, again []string) {
	chosen := r.plan.Select(r.command, p.folder, tests)
	for _, test := range tests {
		if slices.Contains(chosen, test) {
			first = append(first, test)
		} else {
			again = append(again, test)
		}
	}
	return first, again
}

// commands are the jobs that are no test binary.
func (r *run) commands() []*job {
	if r.command == plan.Test {
		return []*job{{name: "client", dir: absolute("client"), command: []string{"npm", "run", "--silent", "check"}}}
	}
	return []*job{
		{name: "tests/stock", dir: absolute("tests/stock"), command: []string{"env", "CGO_ENABLED=0", "go", "test", "-trimpath", "-vet=off", "./..."}},
		{name: "fuzz", dir: absolute("."), command: []string{"make", "--no-print-directory", "fuzz-doors"}},
	}
}

// timeout ends a job that hangs.
const timeout = 30 * time.Minute

// arguments is the command line of a job, for some of its tests.
func (r *run) arguments(j *job, tests []string) []string {
	if j.tests == nil {
		return j.command
	}
	return append([]string{
		r.test2json, "-t", "-p", filepath.Join(module, j.binary.folder), j.binary.path,
		"-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + (time.Duration(r.count) * timeout).String(),
		"-test.run=" + exactly(tests), fmt.Sprintf("-test.count=%d", r.count),
	}, j.flags...)
}

// exactly is a regular expression of top-level tests.
func exactly(tests []string) string { return "^(" + strings.Join(tests, "|") + ")$" }
