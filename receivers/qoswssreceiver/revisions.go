package qoswssreceiver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/auth"
)

// revisions looks for changes of the applications, so that open connections can be checked
// again: a revoked token must not go on speaking until it ends by itself.
type revisions struct {
	checks atomic.Uint64 // how often connections had to check again so far
}

// run looks until ctx ends, and calls check after each change since revision, and again
// until what changed is in force.
func (v *revisions) run(ctx context.Context, apps auth.Registry, revision uint64, every time.Duration, check func()) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var until time.Time // when checking may stop; zero: there is nothing to check
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		newer := apps.Revision()
		now := time.Now() // after the change; the tick may be older
		if newer != revision {
			revision, until = newer, now.Add(auth.RevocationAhead)
		}
		if until.IsZero() {
			continue
		}
		v.checks.Add(1)
		check()
		if now.After(until) {
			until = time.Time{}
		}
	}
}
