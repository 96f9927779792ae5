package main

import (
	"regexp"
	"strings"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// withRace are the tests of the stores that have several goroutines or processes. The others run without the race
// detector, which finds nothing in one goroutine and makes SQLite some 20 times slower.
var withRace = map[string]*regexp.Regexp{
	"storage/postgres": regexp.MustCompile(`^Test(Concurrent|Follow.*|TwoCollectors|ConnectionsEnd|OpenAtOnce|PartitionsAtOnce|DeleteBefore|` +
		`GroupFails|ServerStopsUnderLoad|PackTwoCollectors|MigrationKilled|SettingsHeldUp|AnswerLost|Backup)$`),
	"storage/sqlite":     regexp.MustCompile(`^Test(Concurrent|Follow.*|CloseWhileWriting|GroupFails|QueueIsBounded|Backup|Recover|LogBeginsAgain|FoldBesideAlone)$`),
	"storage/benchstore": regexp.MustCompile(`^$`), // a program that measures the engines
}

// raced are packages below tests that run the product's goroutines in their own process. The others drive the shipped
// binary. They run with the race detector in `make test-long`.
var raced = map[string]bool{"tests/signin": true, "tests/agent": true}

// divide returns the tests of a package with and without the race detector. Each test runs once.
func divide(p *testPackage, which plan.Run) (with, without []string) {
	if strings.HasPrefix(p.folder, "tests/") && (which == plan.Test || !raced[p.folder]) {
		return nil, p.tests
	}
	several := withRace[p.folder]
	for _, test := range p.tests {
		if several == nil || several.MatchString(test) {
			with = append(with, test)
		} else {
			without = append(without, test)
		}
	}
	return with, without
}
