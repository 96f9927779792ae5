package storagetest

import "testing"

// OneGoroutine skips a test that calls the store from one goroutine when -short is set, as it is
// for an engine that the race detector makes too slow: the detector gains nothing from the test.
func OneGoroutine(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: one goroutine")
	}
}

// Race reports whether the race detector is on.
const Race = scale > 1
