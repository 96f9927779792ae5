package plan

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Run is one of the two commands.
type Run string

// The commands, as the table names them.
const (
	Test Run = "make test"
	Long Run = "make test-long"
)

// Browsers is the package of browser tests: each test has a line of its own, and a process of its own.
const Browsers = "tests/e2e"

// A Line is a row of the table: a package, or some of its top-level tests, and the commands that run them.
type Line struct {
	Package string   // folder below the root, like "tests/access", or a pattern of path.Match
	Tests   []string // names of top-level tests; empty: all that have no line of their own
	Runs    []Run
	Reason  string
}

// Plan is the table.
type Plan []Line

var (
	row    = regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \| (.+?) \|$`)
	code   = regexp.MustCompile("`([^`]+)`")
	byRuns = map[string][]Run{"`make test`": {Test}, "`make test-long`": {Long}, "both": {Test, Long}}
)

// Read finds the table in the text of CONTRIBUTING.md: its head is "tests", "run by", "reason". The errors name the
// rows that are malformed or repeated.
func Read(markdown string) (Plan, error) {
	_, table, found := strings.Cut(markdown, "| tests | run by | reason |\n")
	if !found {
		return nil, errors.New("no table with the head: tests, run by, reason")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var p Plan
	var errs []error
	rows := row.FindAllStringSubmatch(table, -1)
	if len(rows) < 2 {
		return nil, errors.New("the table has no rows")
	}
	for _, cells := range rows[1:] { // the first is the line below the head
		line, err := parse(cells[1], cells[2], cells[3])
		if err == nil {
			err = p.repeats(line)
		}
		errs = append(errs, err)
		p = append(p, line)
	}
	return p, errors.Join(errs...)
}

func parse(tests, runs, reason string) (Line, error) {
	line := Line{Runs: byRuns[runs], Reason: reason}
	for i, name := range code.FindAllStringSubmatch(tests, -1) {
		if i == 0 {
			line.Package = name[1]
			continue
		}
		line.Tests = append(line.Tests, name[1])
	}
	switch {
	case line.Package == "" || strings.HasPrefix(line.Package, "Test"):
		return line, fmt.Errorf("%s: the first name has to be a package", tests)
	case !validPattern(line.Package):
		return line, fmt.Errorf("%s: the pattern of packages is malformed", line.Package)
	case line.Runs == nil:
		return line, fmt.Errorf("%s: %s is neither `make test` nor `make test-long` nor both", tests, runs)
	case slices.ContainsFunc(line.Tests, func(name string) bool { return !strings.HasPrefix(name, "Test") }):
		return line, fmt.Errorf("%s: further names have to be tests", tests)
	}
	return line, nil
}

func validPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil
}

func (p Plan) repeats(line Line) error {
	for _, other := range p {
		if other.Package != line.Package {
			continue
		}
		if len(other.Tests) == 0 && len(line.Tests) == 0 {
			return fmt.Errorf("%s has two lines", line.Package)
		}
		for _, name := range line.Tests {
			if slices.Contains(other.Tests, name) {
				return fmt.Errorf("%s %s has two lines", line.Package, name)
			}
		}
	}
	return nil
}

// Has reports whether the line is about a package.
func (l Line) Has(folder string) bool {
	match, _ := path.Match(l.Package, folder)
	return match
}

// Runs returns which commands run a top-level test of a package. A package outside tests that has no line
// belongs to `make test`; a package below tests without a line to none.
func (p Plan) Runs(folder, test string) []Run {
	var runs []Run
	if !strings.HasPrefix(folder, "tests/") {
		runs = []Run{Test}
	}
	for _, line := range p {
		if !line.Has(folder) {
			continue
		}
		if slices.Contains(line.Tests, test) {
			return line.Runs
		}
		if len(line.Tests) == 0 {
			runs = line.Runs
		}
	}
	return runs
}

// Select returns those of a package's top-level tests that a command runs, in their order.
func (p Plan) Select(run Run, folder string, tests []string) []string {
	return slices.DeleteFunc(slices.Clone(tests), func(test string) bool {
		return !slices.Contains(p.Runs(folder, test), run)
	})
}
