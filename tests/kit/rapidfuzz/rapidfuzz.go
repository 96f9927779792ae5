// Package rapidfuzz has the fuzzer lead a property of rapid: the same draws, by what code they
// reach. It is for tests alone.
package rapidfuzz

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Run seeds the target f with eight streams of bytes, the same each time, and fuzzes what the
// property draws from them.
func Run(f *testing.F, property func(*rapid.T)) {
	f.Helper()
	for seed := range byte(8) {
		data := make([]byte, 1<<15)                       // too few bytes draw nothing
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // cannot fail
		f.Add(data)
	}
	f.Fuzz(rapid.MakeFuzz(property))
}
