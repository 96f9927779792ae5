package main

import (
	"regexp"
	"strings"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// withoutRace are the tests that run without the race detector: it finds nothing in one goroutine, and makes SQLite
// some 20 times slower. A test that has several goroutines runs with it.
var withoutRace = map[string]*regexp.Regexp{}

// raced are packages below tests that run the product's goroutines in their own process. The others drive the shipped
// binary. They run with the race detector in `make test-long`.
var raced = map[string]bool{"tests/signin": true, "tests/agent": true}

// divide returns the tests of a package with and without the race detector. Each test runs once.
func divide(p *testPackage, which plan.Run) (with, without []string) {
	if strings.HasPrefix(p.folder, "tests/") && (which == plan.Test || !raced[p.folder]) {
		return nil, p.tests
	}
	plain := withoutRace[p.folder]
	for _, test := range p.tests {
		if plain != nil && plain.MatchString(test) {
			without = append(without, test)
		} else {
			with = append(with, test)
		}
	}
	return with, without
}
