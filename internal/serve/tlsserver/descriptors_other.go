//go:build !unix

package tlsserver

import "math"

// Descriptors returns the number of files and sockets that the process may have open.
func Descriptors() int { return math.MaxInt32 }
