//go:build !unix

package tlsserver

import "math"

// Descriptors returns how many files and sockets the process may have open.
func Descriptors() int { return math.MaxInt32 }
