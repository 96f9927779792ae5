//go:build !race

package storagetest

// scale divides what the largest tests do; the race detector makes SQLite some 20 times
// slower.
const scale = 1
