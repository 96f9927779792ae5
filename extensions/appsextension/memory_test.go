//go:build fuzz

package appsextension

import "testing"

// newSQLite is what nobody calls who fuzzes. Fuzzing instruments all packages that a test
// needs, and of a machine's translation of SQLite that takes the compiler longer than anybody
// waits; so tests of this package have none with -tags fuzz.
func newSQLite(testing.TB) *memory { return newMemory() }
