package bench

import (
	"os"
	"strings"
)

// Quantile returns the value that a share q, 0 to 1, of sorted values does not exceed; there must be some.
func Quantile[T any](sorted []T, q float64) T {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Load returns the load of the machine over the last minute, "unknown" where the system does not report it.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	if one == "" {
		return "unknown"
	}
	return one
}
