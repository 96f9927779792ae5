// Package periodic repeats a task in a goroutine, which its owner can stop and wait for.
package periodic

import (
	"context"
	"sync"
	"time"
)

// Task is a function that runs at once and then at intervals, one run at a time. Stop of the zero value and of
// nil does nothing.
type Task struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Start calls run with the time of each run until Stop. The interval MUST be positive. Stop cancels the
// context of a run, which SHOULD then return early; the first run after the next start continues its work.
func Start(interval time.Duration, run func(ctx context.Context, now time.Time)) *Task {
	ctx, cancel := context.WithCancel(context.Background())
	t := &Task{cancel: cancel}
	t.wg.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			run(ctx, time.Now())
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return t
}

// Stop ends the task and waits for the run in progress. It may be called on nil and twice.
func (t *Task) Stop() {
	if t == nil || t.cancel == nil {
		return
	}
	t.cancel()
	t.wg.Wait()
}
