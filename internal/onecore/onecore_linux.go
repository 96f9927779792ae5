// Package onecore binds benchmarks and the servers that they start to one processor core each, so that neither takes
// the other's time.
package onecore

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Run runs f, and every process that f starts, on one core. Where there is no such core
// they run anywhere.
func Run(core int, f func() error) error {
	if core >= runtime.NumCPU() {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }() // it was allowed before
	return f()
}
