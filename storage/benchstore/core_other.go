//go:build !linux

package main

// onCore runs f. Processes are bound to cores on Linux only.
func onCore(_ int, f func() error) error { return f() }
