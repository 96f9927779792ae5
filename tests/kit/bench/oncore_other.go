//go:build !linux

package bench

// OnCore runs f. Processes are bound to cores on Linux only.
func OnCore(_ int, f func() error) error { return f() }
