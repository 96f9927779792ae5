package throttle

import "time"

// MaxWait is the longest wait that a Table returns.
const MaxWait = time.Minute

// Rate is the rate at which a bucket fills, and its size.
type Rate struct {
	Interval time.Duration // between two tokens
	Burst    int           // size of the bucket, at least 2: a token may be late
}

// Limits of PerSecond; within them no time overflows.
const (
	MinPerSecond = 1e-3
	MaxPerSecond = 1e6
	MinBurst     = 2
	MaxBurst     = 1e6
)

// PerSecond returns a rate of n tokens a second. It limits both numbers to the range above.
func PerSecond(n float64, burst int) Rate {
	n = max(MinPerSecond, min(n, MaxPerSecond))
	return Rate{
		Interval: time.Duration(float64(time.Second) / n),
		Burst:    max(MinBurst, min(burst, MaxBurst)),
	}
}

// span returns the time in ns in which an empty bucket fills.
func (r Rate) span() int64 { return int64(r.Interval) * int64(r.Burst) }
