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
	return amend(ctx, r.settings, kindUses, appID, func(body []byte) any {
		kept := decodeUses(body)
		if !r.mergeUses(appID, kept, one) {
			return nil
		}
		return kept
	})
}

// amend replaces the body of a setting by the JSON of what next returns for it, nil: by nothing. It tries again if
// another collector was faster, so next may be called three times; a setting that does not exist has no body.
func amend(ctx context.Context, settings storage.Settings, kind, id string, next func(body []byte) any) error {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		s, err := settings.Setting(ctx, kind, id)
		if err != nil && !errors.Is(err, storage.ErrNoSetting) {
			return err
		}
		value := next(s.Body)
		if value == nil {
			return nil
		}
		body, err := json.Marshal(value)
		if err != nil {
			return err
		}
		_, err = settings.PutSetting(ctx, storage.Setting{Kind: kind, ID: id, Revision: s.Revision, ChangedAt: time.Now(), Body: body})
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
		if !e.App.Has(id) {
			delete(kept, id)
		}
	}
	return changed
}

// readUses returns what the store has of an app's last uses.
func readUses(ctx context.Context, settings storage.Settings, appID string) (app.LastUse, error) {
	s, err := settings.Setting(ctx, kindUses, appID)
	if err != nil && !errors.Is(err, storage.ErrNoSetting) {
		return nil, err
	}
	return decodeUses(s.Body), nil
}

// decodeUses reads the body of a setting. A damaged one counts as none: nothing is lost that cannot be counted anew.
func decodeUses(body []byte) app.LastUse {
	kept := app.LastUse{}
	if json.Unmarshal(body, &kept) != nil {
		return app.LastUse{}
	}
	return kept
}

// lastUses returns the last uses of an app's credentials as far as this collector knows.
func (r *registry) lastUses(ctx context.Context, appID string) (app.LastUse, error) {
	waiting := r.uses.of(appID)
	if r.settings == nil {
		return waiting, nil
	}
	kept, err := readUses(ctx, r.settings, appID)
	for id, at := range waiting {
		if err == nil && at.After(kept[id]) {
			kept[id] = at
		}
	}
	return kept, err
}
