package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnCore runs f, and every process that f starts, on one core. Where there is no such core
// they run anywhere.
func OnCore(core int, f func() error) error {
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
