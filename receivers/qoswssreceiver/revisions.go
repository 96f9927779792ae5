package qoswssreceiver

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/auth"
)

// revisions looks for changes of the applications, so that open connections can be checked
// again: a revoked token must not go on speaking until it ends by itself. Connections that
// speak compare checks; silent ones are woken, if their own application has changed.
type revisions struct {
	checks atomic.Uint64 // how often connections had to check again so far
}

// watched is what run needs of the connections.
type watched interface {
	openApps() []string              // applications that have connections
	wakeApps(apps map[string]dueEnd) // makes theirs look at what they have to do
}

// dueEnd is until when the connections of an application have to check again and again.
type dueEnd = time.Time

// run looks until ctx ends. After each change since revision the connections of the
// applications that changed check again, at each look until what changed is in force.
func (v *revisions) run(ctx context.Context, apps auth.Registry, revision uint64, every time.Duration, open watched) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	changed := changes{due: make(map[string]dueEnd)}
	var until time.Time // when looking may stop; zero: nothing has changed
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
		if !until.IsZero() {
			changed.look(apps, open.openApps(), now)
			v.checks.Add(1)
		}
		if len(changed.due) > 0 {
			v.checks.Add(1)
			open.wakeApps(changed.due)
			changed.tidy(now)
		}
		if now.After(until) {
			until = time.Time{}
		}
	}
}

// changes finds the applications that have changed.
type changes struct {
	seen map[string]auth.App // those that had connections at the last look
	due  map[string]dueEnd
}

// look compares applications with what they were. One that had no connection then may have
// changed since its first one was admitted.
func (c *changes) look(apps auth.Registry, open []string, now time.Time) {
	seen := make(map[string]auth.App, len(open))
	for _, id := range open {
		app, _ := apps.App(id)
		if before, known := c.seen[id]; !known || !reflect.DeepEqual(before, app) {
			c.due[id] = now.Add(auth.RevocationAhead)
		}
		seen[id] = app
	}
	c.seen = seen
}

// tidy takes away what is in force.
func (c *changes) tidy(now time.Time) {
	for id, end := range c.due {
		if now.After(end) {
			delete(c.due, id)
		}
	}
}
