package throttle

import "time"

// MaxWait is the longest wait that a Table tells.
const MaxWait = time.Minute

// Rate is how fast a bucket fills and how much it saves.
type Rate struct {
	Interval time.Duration // between two tokens
	Burst    int           // the most tokens saved, at least 2: one may be late
}

// Bounds of what PerSecond takes; inside them no time overflows.
const (
	MinPerSecond = 1e-3
	MaxPerSecond = 1e6
	MinBurst     = 2
	MaxBurst     = 1e6
)

// PerSecond is a rate of n tokens a second; both numbers are brought into their bounds.
func PerSecond(n float64, burst int) Rate {
	n = max(MinPerSecond, min(n, MaxPerSecond))
	return Rate{
		Interval: time.Duration(float64(time.Second) / n),
		Burst:    max(MinBurst, min(burst, MaxBurst)),
	}
}

// span is how long an empty bucket takes to be full.
func (r Rate) span() int64 { return int64(r.Interval) * int64(r.Burst) }
