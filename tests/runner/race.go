package main

import (
	"regexp"
	"strings"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// The race detector finds nothing in one goroutine, and makes code 5 to 20 times slower. In the packages named here
// it is on for some tests; in all others for each.
var (
	// withRace are the tests of the stores that have several goroutines or processes.
	withRace = map[string]*regexp.Regexp{
		"storage/postgres": regexp.MustCompile(`^Test(Concurrent|Follow.*|TwoCollectors|ConnectionsEnd|OpenAtOnce|PartitionsAtOnce|DeleteBefore|` +
			`GroupFails|ServerStopsUnderLoad|PackTwoCollectors|MigrationKilled|SettingsHeldUp|AnswerLost|Backup)$`),
		"storage/sqlite": regexp.MustCompile(`^Test(Concurrent|Follow.*|CloseWhileWriting|GroupFails|QueueIsBounded|Backup|Recover|LogBeginsAgain|FoldBesideAlone)$`),
		"extensions/accessextension": regexp.MustCompile(`^Test(AdministratorsWho.*|TokenIsRevokedInEveryCollector|TwoFirstStarts|` +
			`TokenRecordsItsUse|StoreAway)$`),
		// The tests of pairs count in several goroutines.
		"internal/call/contrast": regexp.MustCompile(`^Test(RemainingCounts|FindsACombination)$`),
		// These start none. The tests of processors and extensions run them in several.
		"internal/call/conference":      none,
		"internal/call/conference/live": none,
		"internal/call/event":           none,
		"storage/benchstore":            none, // a program that measures the engines
	}
	// withoutRace are campaigns of one goroutine, beside tests of the same package that have several.
	withoutRace = map[string]*regexp.Regexp{
		"exporters/webhookexporter":                      regexp.MustCompile(`^TestRulesNotifyNoPast$`),
		"extensions/dashboardextension/internal/readapi": regexp.MustCompile(`^TestHostileParameters$`),
		"receivers/qoswssreceiver":                       regexp.MustCompile(`^Test(NoSequenceOfMessages.*|RefusalsOfMessagesRepeatNothing)$`),
	}
	none = regexp.MustCompile(`^\z.`)
)

// raced are packages below tests that run the product's goroutines in their own process. The others drive the shipped
// binary. They run with the race detector in `make test-long`.
var raced = map[string]bool{"tests/signin": true, "tests/agent": true}

// racedLater are packages whose tests of withRace have the race detector in `make test-long`, where they run again.
var racedLater = map[string]bool{"storage/postgres": true, "storage/sqlite": true}

// divide returns the tests of a package with and without the race detector. Each test runs once.
func divide(p *testPackage, which plan.Run) (with, without []string) {
	if strings.HasPrefix(p.folder, "tests/") && (which == plan.Test || !raced[p.folder]) || which == plan.Test && racedLater[p.folder] {
		return nil, p.tests
	}
	only, but := withRace[p.folder], withoutRace[p.folder]
	for _, test := range p.tests {
		if (only == nil || only.MatchString(test)) && (but == nil || !but.MatchString(test)) {
			with = append(with, test)
		} else {
			without = append(without, test)
		}
	}
	return with, without
}
