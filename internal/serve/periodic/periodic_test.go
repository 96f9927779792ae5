package periodic

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTaskRunsAtOnceAndAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var runs []time.Duration
		task := Start(time.Minute, func(_ context.Context, now time.Time) { runs = append(runs, now.Sub(start)) })
		time.Sleep(2*time.Minute + time.Second)
		task.Stop()
		time.Sleep(time.Hour)
		task.Stop()
		require.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute}, runs)
	})
}

func TestStopEndsTheRunInProgressAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		task := Start(time.Minute, func(ctx context.Context, _ time.Time) {
			<-ctx.Done()
			time.Sleep(time.Second) // what is left of the run
			ended = true
		})
		synctest.Wait()
		task.Stop()
		require.True(t, ended)
	})
}

func TestStopWithoutStart(*testing.T) {
	var none *Task
	none.Stop()
	(&Task{}).Stop()
}
