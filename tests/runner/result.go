package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result is how a job ended.
type result struct {
	*job
	took, cpu time.Duration
	tests     map[string]*outcome // by name, subtests too; of test binaries
	output    []string            // lines that belong to no test, or all lines of another command
	counts    counts
	failed    []string // top-level tests that failed or did not end
	failure   error    // the job failed, whatever its tests say
	starved   starvation
	second    *result // of the failed tests, run again alone; nil if they did not run again
}

// outcome is the state of one test.
type outcome struct {
	action string // run, pass, fail or skip
	took   float64
	output []string
}

// counts are numbers of tests and subtests.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(o counts) {
	c.passed, c.failed, c.skipped = c.passed+o.passed, c.failed+o.failed, c.skipped+o.skipped
}

func newResult(j *job) *result { return &result{job: j, tests: map[string]*outcome{}} }

// ok reports whether everything passed.
func (r *result) ok() bool { return r.failure == nil && len(r.failed) == 0 }

// event is a line of test2json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// mostLines bounds the output that is kept of one test.
const mostLines = 2000

// read reads the output of a job to its end: events of a test binary, or text.
func (r *result) read(out *bufio.Reader, events bool) {
	for {
		line, err := out.ReadString('\n')
		if e := new(event); events && json.Unmarshal([]byte(line), e) == nil {
			r.take(e)
		} else if line != "" {
			r.output = appendBounded(r.output, line)
		}
		if err != nil {
			return // the job has closed its output
		}
	}
}

func (r *result) take(e *event) {
	if e.Test == "" {
		if e.Action == "output" {
			r.output = appendBounded(r.output, e.Output)
		}
		return
	}
	o := r.tests[e.Test]
	if o == nil {
		o = &outcome{action: "run"}
		r.tests[e.Test] = o
	}
	if o.action == "fail" {
		return // of a test that runs several times the first failure counts
	}
	switch e.Action {
	case "output":
		o.output = appendBounded(o.output, e.Output)
	case "pass", "fail", "skip":
		o.action, o.took = e.Action, e.Elapsed
		if e.Action == "pass" {
			o.output = nil
		}
	}
}

func appendBounded(lines []string, line string) []string {
	if len(lines) >= mostLines {
		lines = slices.Delete(lines, mostLines/2, mostLines/2+1) // begin and end matter
	}
	return append(lines, line)
}

// finish computes counts and failures when the process has ended. started are the tests that it was to run.
func (r *result) finish(err error, started []string) {
	if r.job.tests == nil {
		r.failure = err
		r.counts = countsOf(strings.Join(r.output, ""))
		if err != nil && r.counts.failed == 0 {
			r.counts.failed = 1
		}
		return
	}
	for name, o := range r.tests {
		switch o.action {
		case "pass":
			r.counts.passed++
		case "skip":
			r.counts.skipped++
		default: // a test that did not end has failed
			r.counts.failed++
			if !strings.Contains(name, "/") {
				r.failed = append(r.failed, name)
			}
		}
	}
	slices.Sort(r.failed)
	if err != nil && len(r.failed) == 0 {
		r.failure = fmt.Errorf("no test failed, but %w", err) // TestMain, as when a goroutine is left
		r.counts.failed++
	}
	if err == nil && len(r.failed) == 0 && len(r.tests) == 0 && len(started) > 0 {
		r.failure = errors.New("it ran no test")
		r.counts.failed++
	}
}

var (
	vitest = regexp.MustCompile(`(?m)^\s*Tests\s+(.*)$`)
	number = regexp.MustCompile(`(\d+) (passed|failed|skipped)`)
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// countsOf reads the totals that vitest prints.
func countsOf(output string) (c counts) {
	for _, total := range vitest.FindAllStringSubmatch(colour.ReplaceAllString(output, ""), -1) {
		for _, n := range number.FindAllStringSubmatch(total[1], -1) {
			count, _ := strconv.Atoi(n[1])
			switch n[2] {
			case "passed":
				c.passed += count
			case "failed":
				c.failed += count
			default:
				c.skipped += count
			}
		}
	}
	return c
}

// text is the output of what failed, the innermost tests first: what a test prints at its end can be long, and is not why a test in it failed.
func (r *result) text() string {
	var b strings.Builder
	if r.failure != nil {
		fmt.Fprintln(&b, r.failure)
	}
	for _, name := range slices.SortedFunc(maps.Keys(r.tests), innermost) {
		if o := r.tests[name]; o.action == "fail" || o.action == "run" {
			b.WriteString(strings.Join(slices.DeleteFunc(slices.Clone(o.output), noise), ""))
		}
	}
	if r.failure != nil || b.Len() == 0 {
		b.WriteString(strings.Join(r.output, ""))
	}
	return b.String()
}

// innermost orders the names of tests: the deeper first, then by name.
func innermost(a, b string) int {
	return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(a, b))
}

// reasonLines and reasonColumns bound the excerpt of a failure.
const (
	reasonLines   = 12
	reasonColumns = 200
)

var assertion = regexp.MustCompile(`^\s+\w+\.go:\d+:`)

// reason is how the failure begins, indented: what follows the summary's line, since a log may be kept by its end alone.
func (r *result) reason() string {
	var lines []string
	for line := range strings.Lines(r.text()) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, slices.IndexFunc(lines, assertion.MatchString)):]
	var b strings.Builder
	for _, line := range lines[:min(len(lines), reasonLines)] {
		b.WriteString("\n      " + line[:min(len(line), reasonColumns)])
	}
	return b.String()
}

// noise matches the lines of the testing package about the order of tests.
func noise(line string) bool {
	return strings.HasPrefix(line, "=== RUN") || strings.HasPrefix(line, "=== PAUSE") || strings.HasPrefix(line, "=== CONT") || strings.HasPrefix(line, "=== NAME")
}
