package appsextension

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/storage"
)

const (
	// kindUses is the kind of setting that holds when the credentials of an app were last
	// used, by AppID.
	kindUses = "app use"
	// usesInterval is how exact a last use is, and how often it is written at most.
	usesInterval = time.Minute
	// maxUses bounds the apps whose last uses wait to be written.
	maxUses = storage.MaxSettings
)

// uses are last uses of credentials that wait to be written. Safe for concurrent use.
type uses struct {
	mu      sync.Mutex
	pending map[string]app.LastUse // by AppID
	dropped atomic.Int64
}

func newUses() *uses { return &uses{pending: map[string]app.LastUse{}} }

func (u *uses) note(appID, credentialID string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one := u.pending[appID]
	if one == nil {
		if len(u.pending) >= maxUses {
			u.dropped.Add(1)
			return
		}
		one = app.LastUse{}
		u.pending[appID] = one
	}
	if at = at.UTC().Truncate(time.Millisecond); at.After(one[credentialID]) {
		one[credentialID] = at
	}
}

// of returns a copy of what waits of one app.
func (u *uses) of(appID string) app.LastUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := app.LastUse{}
	maps.Copy(out, u.pending[appID])
	return out
}

// take returns all that waits, and leaves nothing.
func (u *uses) take() map[string]app.LastUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = map[string]app.LastUse{}
	return taken
}

// writeUses writes what waits. What cannot be written waits for the next time.
func (r *registry) writeUses(ctx context.Context) {
	taken := r.uses.take()
	for appID, one := range taken {
		if err := r.writeUse(ctx, appID, one); err != nil {
			r.usesFailed(ctx, err)
			r.giveBack(taken)
			return
		}
		delete(taken, appID)
	}
}

func (r *registry) usesFailed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		r.logger.Warn("last uses of credentials could not be written and wait", zap.Error(err))
	}
}

func (r *registry) giveBack(left map[string]app.LastUse) {
	for appID, one := range left {
		for id, at := range one {
			r.uses.note(appID, id, at)
		}
	}
}

// writeUse merges last uses into those of the store, unless these are as new, give or take
// a minute: another collector may have written them.
func (r *registry) writeUse(ctx context.Context, appID string, one app.LastUse) error {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		kept, revision, err := readUses(ctx, r.settings, appID)
		if err != nil {
			return err
		}
		if !r.mergeUses(appID, kept, one) {
			return nil
		}
		body, err := json.Marshal(kept)
		if err != nil {
			return err
		}
		_, err = r.settings.PutSetting(ctx, storage.Setting{Kind: kindUses, ID: appID, Revision: revision, ChangedAt: time.Now(), Body: body})
		if !errors.Is(err, storage.ErrConflict) || attempt == attempts {
			return err
		}
	}
}

// mergeUses adds to kept what is newer by a minute, and takes credentials away that are
// gone. It reports whether that changed anything worth a write.
func (r *registry) mergeUses(appID string, kept, one app.LastUse) (changed bool) {
	for id, at := range one {
		if at.Sub(kept[id]) >= usesInterval {
			kept[id], changed = at, true
		}
	}
	e, ok := r.now.Load().apps[appID]
	if !ok {
		return false // the app has gone meanwhile
	}
	for id := range kept {
		if !e.knows(id) && !e.doc.Has(id) {
			delete(kept, id)
		}
	}
	return changed
}

// readUses returns what the store has of an app's last uses.
func readUses(ctx context.Context, settings storage.Settings, appID string) (app.LastUse, int64, error) {
	kept := app.LastUse{}
	s, err := settings.Setting(ctx, kindUses, appID)
	if errors.Is(err, storage.ErrNoSetting) {
		return kept, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if json.Unmarshal(s.Body, &kept) != nil { // nothing is lost that cannot be counted anew
		kept = app.LastUse{}
	}
	return kept, s.Revision, nil
}

// lastUses returns the last uses of an app's credentials as far as this collector knows.
func (r *registry) lastUses(ctx context.Context, appID string) (app.LastUse, error) {
	waiting := r.uses.of(appID)
	if r.settings == nil {
		return waiting, nil
	}
	kept, _, err := readUses(ctx, r.settings, appID)
	for id, at := range waiting {
		if err == nil && at.After(kept[id]) {
			kept[id] = at
		}
	}
	return kept, err
}
