package storagetest

import (
	"flag"
	"testing"
)

// OneGoroutine skips a test that calls the store from one goroutine when -short is set, as
// ShortUnderRace does: the race detector gains nothing from the test.
func OneGoroutine(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: one goroutine")
	}
}

// ShortUnderRace is for TestMain of a package whose tests the race detector makes several times slower, SQLite's
// some 20 times: it sets -short if the race detector is on. `make test-go` runs such a package with the race detector
// and without it.
func ShortUnderRace() {
	flag.Parse()
	if scale == 1 {
		return
	}
	if err := flag.Set("test.short", "true"); err != nil {
		panic(err)
	}
}
