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
	// A holder that could not renew for holdFor stops. Others wait longer, each by its own clock, so
	// the clocks of collectors need not agree.
	holdFor = 15 * time.Second
	takeFor = 25 * time.Second
)

// lease is held by one of the collectors that share a store. The revision of a setting is its heartbeat.
type lease struct {
	settings storage.Settings
	shared   bool
	name     string

	holding   bool
	revision  int64     // last one written or read
	writtenAt time.Time // when it was written, or first read
	polledAt  time.Time
}

func newLease(settings storage.Settings, shared bool) *lease {
	return &lease{settings: settings, shared: shared, name: uuid.NewString()}
}

// hold renews or takes the lease, and reports whether this collector has it.
func (l *lease) hold(ctx context.Context, now time.Time) bool {
	if !l.shared {
		return true
	}
	if l.holding {
		if now.Sub(l.writtenAt) >= renewEvery {
			l.write(ctx, now)
		}
		l.holding = l.holding && now.Sub(l.writtenAt) < holdFor
		return l.holding
	}
	if now.Sub(l.polledAt) < pollEvery {
		return false
	}
	l.polledAt = now
	s, err := l.settings.Setting(ctx, kindLease, leaseID)
	switch {
	case errors.Is(err, storage.ErrNoSetting):
		l.revision = 0
		l.write(ctx, now)
	case err != nil:
	case s.Revision != l.revision:
		l.revision, l.writtenAt = s.Revision, now
	case now.Sub(l.writtenAt) >= takeFor:
		l.write(ctx, now)
	}
	return l.holding
}

// write takes or renews the lease. A write of another collector ends it, an unavailable store does not.
func (l *lease) write(ctx context.Context, now time.Time) {
	revision, err := l.settings.PutSetting(ctx, storage.Setting{Kind: kindLease, ID: leaseID, Revision: l.revision, ChangedAt: now, Body: []byte(l.name)})
	switch {
	case err == nil:
		l.holding, l.revision, l.writtenAt = true, revision, now
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
	_ = l.settings.DeleteSetting(ctx, kindLease, leaseID, l.revision) // on error others wait for takeFor
}
