package webhookexporter

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
)

const (
	kindLease = "webhook lease"
	leaseID   = "leader"

	renewEvery = 5 * time.Second
	pollEvery  = 2 * time.Second
	// A holder that could not renew for holdFor stops. Others wait for longer, each by its own
	// clock: clocks of collectors need not agree.
	holdFor = 15 * time.Second
	takeFor = 25 * time.Second
)

// lease is held by one of the collectors that share a store. A setting's revision is its heart beat.
type lease struct {
	settings storage.Settings
	shared   bool
	name     string

	holding  bool
	revision int64     // that was written, or was read last
	at       time.Time // when it was written, or first read
	polled   time.Time
}

func newLease(settings storage.Settings, shared bool) *lease {
	return &lease{settings: settings, shared: shared, name: uuid.NewString()}
}

// hold reports whether this collector has the lease, and renews or takes it.
func (l *lease) hold(ctx context.Context, now time.Time) bool {
	if !l.shared {
		return true
	}
	if l.holding {
		if now.Sub(l.at) >= renewEvery {
			l.write(ctx, now)
		}
		l.holding = l.holding && now.Sub(l.at) < holdFor
		return l.holding
	}
	if now.Sub(l.polled) < pollEvery {
		return false
	}
	l.polled = now
	s, err := l.settings.Setting(ctx, kindLease, leaseID)
	switch {
	case errors.Is(err, storage.ErrNoSetting):
		l.revision = 0
		l.write(ctx, now)
	case err != nil:
	case s.Revision != l.revision:
		l.revision, l.at = s.Revision, now
	case now.Sub(l.at) >= takeFor:
		l.write(ctx, now)
	}
	return l.holding
}

// write takes or renews the lease. Another's write ends it; a store that is away does not.
func (l *lease) write(ctx context.Context, now time.Time) {
	revision, err := l.settings.PutSetting(ctx, storage.Setting{Kind: kindLease, ID: leaseID, Revision: l.revision, ChangedAt: now, Body: []byte(l.name)})
	switch {
	case err == nil:
		l.holding, l.revision, l.at = true, revision, now
	case errors.Is(err, storage.ErrConflict):
		l.holding = false
	}
}

// releaseTimeout bounds the last write.
const releaseTimeout = 2 * time.Second

// release lets the next collector take the lease at once.
func (l *lease) release(ctx context.Context) {
	if !l.shared || !l.holding {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	l.holding = false
	_ = l.settings.DeleteSetting(ctx, kindLease, leaseID, l.revision) // else others wait for takeFor
}
