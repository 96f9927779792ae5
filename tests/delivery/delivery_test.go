package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// spec: SRV-03
func TestAcknowledgedFramesAreStoredExactlyOnce(t *testing.T) {
	t.Parallel()
	r := newRun(t, 4*time.Second)
	r.add(6, harness.Habits{})
	r.load(func(ctx context.Context) {
		harness.Pause(ctx, r.length/2)
		r.collector.Kill()
		r.collector.Start()
	})
	sum := r.balance()
	require.NotZero(t, sum.Refused)
	require.NotZero(t, sum.Skipped)
}
