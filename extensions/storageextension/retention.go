package storageextension

import (
	"context"
	"sync"
	"time"
)

// retentionInterval is the time between two runs: short against any sensible retention.
const retentionInterval = time.Hour

// retention deletes what is too old, at the start and then every hour.
type retention struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// startRetention calls remove with the time before which a conference must have ended to
// go, and report with the outcome, until stop.
func startRetention(
	keep time.Duration,
	remove func(context.Context, time.Time) (int, error),
	report func(context.Context, int, error),
) *retention {
	ctx, cancel := context.WithCancel(context.Background())
	r := &retention{cancel: cancel}
	r.wg.Go(func() {
		ticker := time.NewTicker(retentionInterval)
		defer ticker.Stop()
		for {
			n, err := remove(ctx, time.Now().Add(-keep))
			if ctx.Err() != nil {
				err = nil // stopping is no failure; the next start goes on
			}
			report(ctx, n, err)
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return r
}

// stop waits until nothing is deleted any more. It may be called on nil and twice.
func (r *retention) stop() {
	if r == nil {
		return
	}
	r.cancel()
	r.wg.Wait()
}
