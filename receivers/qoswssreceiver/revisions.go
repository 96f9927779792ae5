package qoswssreceiver

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/identity/auth"
)

// revisions detects changes of the applications, so that open connections are checked again: a
// revoked token must not be used until its end. Connections that receive messages compare checks;
// idle ones are woken if their own application has changed.
type revisions struct {
	checks atomic.Uint64 // number of changes after which connections have to check again
}

// openConnections is what run needs of the connections.
type openConnections interface {
	openApps() []string              // applications that have connections
	wakeApps(apps map[string]dueEnd) // wakes their connections, which check again
}

// dueEnd is the time until which the connections of an application have to check repeatedly.
type dueEnd = time.Time

// run polls until ctx ends. After each change since revision the connections of the changed
// applications check again, at each poll until the change is in force.
func (v *revisions) run(ctx context.Context, apps auth.Registry, revision uint64, every time.Duration, open openConnections) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	changed := changes{due: make(map[string]dueEnd)}
	var until time.Time // when polling may stop; zero: nothing has changed
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		newer := apps.Revision()
		now := time.Now() // not the time of the tick, which may be before the change
		if newer != revision {
			revision, until = newer, now.Add(auth.RevocationAhead)
		}
		if !until.IsZero() {
			changed.compare(apps, open.openApps(), now)
			v.checks.Add(1)
		}
		if len(changed.due) > 0 {
			v.checks.Add(1)
			open.wakeApps(changed.due)
			changed.dropExpired(now)
		}
		if now.After(until) {
			until = time.Time{}
		}
	}
}

// changes holds the applications that have changed.
type changes struct {
	apps map[string]auth.App // those that had connections at the last comparison
	due  map[string]dueEnd
}

// compare compares applications with those of the last comparison. One that had no connection then
// may have changed since its first connection was admitted.
func (c *changes) compare(apps auth.Registry, open []string, now time.Time) {
	seen := make(map[string]auth.App, len(open))
	for _, id := range open {
		app, _ := apps.App(id)
		if before, known := c.apps[id]; !known || !reflect.DeepEqual(before, app) {
			c.due[id] = now.Add(auth.RevocationAhead)
		}
		seen[id] = app
	}
	c.apps = seen
}

// dropExpired removes the changes that are in force.
func (c *changes) dropExpired(now time.Time) {
	for id, end := range c.due {
		if now.After(end) {
			delete(c.due, id)
		}
	}
}
