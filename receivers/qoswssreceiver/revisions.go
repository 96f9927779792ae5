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
	seen atomic.Uint64 // the newest revision that was seen
}

// run looks until ctx ends, and calls changed after each change it sees.
func (v *revisions) run(ctx context.Context, apps auth.Registry, every time.Duration, changed func()) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if revision := apps.Revision(); revision != v.seen.Swap(revision) {
			changed()
		}
	}
}
