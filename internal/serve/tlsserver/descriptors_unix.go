//go:build unix

package tlsserver

import (
	"math"
	"syscall"
)

// Descriptors returns the number of files and sockets that the process may have open.
func Descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32))
}
