package scenario

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// MeasurePressure returns a function that returns the share of the time since in which some task of the machine waited for a
// processor, 0 to 1.
func MeasurePressure(t *testing.T) (share func() float64) {
	t.Helper()
	waited, began := waitedForProcessors(t), time.Now()
	return func() float64 { return (waitedForProcessors(t) - waited).Seconds() / time.Since(began).Seconds() }
}

// waitedForProcessors returns for how long some task has waited for a processor: the kernel's pressure stall
// information, 0 if the kernel has none.
func waitedForProcessors(t *testing.T) time.Duration {
	t.Helper()
	raw, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	var ten, minute, five float64
	var total int64
	_, err = fmt.Sscanf(string(raw), "some avg10=%f avg60=%f avg300=%f total=%d", &ten, &minute, &five, &total)
	require.NoError(t, err)
	return time.Duration(total) * time.Microsecond
}
