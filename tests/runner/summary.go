package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// verdict is how a job counts in the end.
type verdict int

const (
	passed  verdict = iota
	flaky           // it failed, and passed when it ran again alone
	starved         // it failed for lack of a processor, and passed when it ran again alone
	failed
)

func (r *result) verdict() verdict {
	switch {
	case r.ok():
		return passed
	case r.second == nil || !r.second.ok():
		return failed
	case r.starved.starved():
		return starved
	}
	return flaky
}

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// slow is the time of a job above which the summary lists it: it should be split or moved if the machine was idle.
const slow = time.Minute

// summarise prints the end of the run and returns errTests unless everything passed.
func (r *run) summarise(results []*result) error {
	r.slowest(results)
	r.skipped(results)
	by := map[verdict][]*result{}
	var total counts
	for _, res := range results {
		v := res.verdict()
		by[v] = append(by[v], res)
		total.add(res.counts)
		if v == flaky || v == starved { // the second result counts
			total.failed -= res.counts.failed
			total.passed += res.counts.failed
		}
	}
	r.list("passed when they ran again alone, after they had no processor", by[starved], func(res *result) string {
		return fmt.Sprintf("%s: waited for a processor in %.0f %% of the time, and the machine stood still %d times%s", res.what(), 100*res.starved.share, res.starved.stalls, res.reason())
	})
	r.list("flaky (failed, and passed when they ran again alone)", by[flaky], func(res *result) string { return res.what() + res.reason() })
	r.list("failed", by[failed], func(res *result) string {
		if res.second != nil && res.second.starved.starved() {
			return res.what() + ": twice on a machine that had no processor for it"
		}
		return res.what() + res.reason()
	})
	if again := append(slices.Clone(by[failed]), by[flaky]...); len(again) > 0 {
		r.print("\nrun these alone: %s ONLY=%q\n", r.command, strings.Join(names(again), " "))
	}
	r.print("\n%s in %s\n%s\n", r.command, clock(time.Since(r.began)), total)
	if len(by[failed]) > 0 || r.strict && len(by[flaky]) > 0 {
		return errTests
	}
	return nil
}

// what names the tests of a job that failed.
func (r *result) what() string { return strings.Join(names([]*result{r}), " ") }

// names are arguments of the runner for the tests that failed.
func names(results []*result) (list []string) {
	for _, r := range results {
		if r.job.tests == nil || len(r.failed) == 0 {
			name, _, _ := strings.Cut(r.name, " (")
			list = append(list, name)
			continue
		}
		for _, test := range r.failed {
			list = append(list, r.binary.folder+"/"+test)
		}
	}
	return list
}

func (r *run) list(title string, results []*result, line func(*result) string) {
	if len(results) == 0 {
		return
	}
	r.print("\n%s:\n", title)
	for _, res := range results {
		r.print("  %s\n", line(res))
	}
}

// slowest lists the ten slowest top-level tests, and each job of more than a minute.
func (r *run) slowest(results []*result) {
	type timed struct {
		name    string
		seconds float64
	}
	var tests, jobs []timed
	for _, res := range results {
		for name, o := range res.tests {
			if !strings.Contains(name, "/") {
				tests = append(tests, timed{res.binary.folder + "/" + name, o.took})
			}
		}
		if res.took > slow {
			jobs = append(jobs, timed{res.name, res.took.Seconds()})
		}
	}
	for title, list := range map[string][]timed{"slowest tests": tests, "processes of more than 60 s (split or move them if the machine was idle)": jobs} {
		slices.SortFunc(list, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
		if title == "slowest tests" {
			list = list[:min(10, len(list))]
		}
		if len(list) > 0 {
			r.print("\n%s:\n", title)
		}
		for _, t := range list {
			r.print("  %6.1fs  %s\n", t.seconds, t.name)
		}
	}
}

// skipped lists the skipped tests by reason.
func (r *run) skipped(results []*result) {
	reasons := map[string][]string{}
	for _, res := range results {
		for name, o := range res.tests {
			if o.action == "skip" {
				reason := reasonOf(o.output)
				reasons[reason] = append(reasons[reason], res.binary.folder+"/"+name)
			}
		}
	}
	if len(reasons) > 0 {
		r.print("\nskipped:\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		list := reasons[reason]
		slices.Sort(list)
		shown := strings.Join(list[:min(3, len(list))], ", ")
		if len(list) > 3 {
			shown += fmt.Sprintf(" and %d more", len(list)-3)
		}
		r.print("  %s: %s\n", reason, shown)
	}
}

// reasonOf returns the last text that a skipped test printed, without its position.
func reasonOf(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line != "" && !noise(line) && !strings.HasPrefix(line, "--- SKIP") {
			if _, text, found := strings.Cut(line, ".go:"); found {
				_, text, _ = strings.Cut(text, ": ")
				return text
			}
			return line
		}
	}
	return "no reason given"
}
