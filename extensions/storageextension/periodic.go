package storageextension

import (
	"context"
	"sync"
	"time"
)

// periodic runs a task at once and then at intervals, one run at a time.
type periodic struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// startPeriodic calls task with the time of its run until stop. The task ends early when
// its context does; what it left the first run after the next start goes on with.
func startPeriodic(interval time.Duration, task func(ctx context.Context, now time.Time)) *periodic {
	ctx, cancel := context.WithCancel(context.Background())
	p := &periodic{cancel: cancel}
	p.wg.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			task(ctx, time.Now())
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return p
}

// stop waits until the task has ended. It may be called on nil and twice.
func (p *periodic) stop() {
	if p == nil {
		return
	}
	p.cancel()
	p.wg.Wait()
}
