package webhookexporter

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// kindState is the kind of the settings with the state of an app's webhooks, by AppID.
const kindState = "webhook state"

// appState is the stored state of an app's webhooks beside points and notices.
type appState struct {
	// Hooks is when configured webhooks were first seen, in ms by ID.
	Hooks   map[string]int64                `json:"hooks,omitempty"`
	Reasons map[notice.Reason]notice.Status `json:"reasons,omitempty"`
	// History is the rules by which single conferences, ratings and tests notify, with those of the past.
	History notice.History `json:"history,omitzero"`

	revision int64
}

func (e *engine) readStates(ctx context.Context) (map[string]*appState, error) {
	all, err := e.lease.settings.SettingsSince(ctx, kindState, 0)
	if err != nil {
		return nil, err
	}
	states := make(map[string]*appState, len(all.Changed))
	for _, s := range all.Changed {
		state := &appState{}
		if err := json.Unmarshal(s.Body, state); err != nil {
			state = &appState{} // damaged: a notification may be sent twice
		}
		state.revision = s.Revision
		states[s.ID] = state
	}
	return states, nil
}

// writeState writes the state of an app. After a conflict, by another leader or by an own write of
// unknown outcome, everything is read again.
func (e *engine) writeState(ctx context.Context, app string, s appState) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	s.revision, err = e.lease.settings.PutSetting(ctx, storage.Setting{Kind: kindState, ID: app, Revision: s.revision, ChangedAt: time.Now(), Body: body})
	if errors.Is(err, storage.ErrConflict) {
		e.leading = false
	}
	if err != nil {
		return err
	}
	e.states[app] = &s
	return nil
}

func (e *engine) state(app string) appState {
	if s := e.states[app]; s != nil {
		return *s
	}
	return appState{}
}

func (e *engine) writeChange(ctx context.Context, c notice.Change) error {
	s := e.state(c.AppID)
	s.Reasons = e.tracker.With(c)
	return e.writeState(ctx, c.AppID, s)
}

// seeHooks records configured webhooks that are new, or were removed for a while: they get no earlier notifications.
func (e *engine) seeHooks(ctx context.Context) error {
	for app, s := range e.states {
		if len(s.Hooks) > 0 && len(e.apps.Webhooks(app)) == 0 {
			gone := *s
			gone.Hooks = nil
			if err := e.writeState(ctx, app, gone); err != nil {
				return err
			}
		}
	}
	for _, app := range e.apps.HookedApps() {
		s, fresh := e.state(app), map[string]int64{}
		known := true
		for _, hook := range e.apps.Webhooks(app) {
			if !hook.CreatedAt.IsZero() {
				continue
			}
			at, seen := s.Hooks[hook.ID]
			if !seen {
				at, known = e.started.UnixMilli(), false
			}
			fresh[hook.ID] = at
		}
		if known && len(fresh) == len(s.Hooks) {
			continue
		}
		s.Hooks = fresh
		if err := e.writeState(ctx, app, s); err != nil {
			return err
		}
	}
	return nil
}

// existsSince returns the time since when a webhook exists.
func (e *engine) existsSince(app string, hook *notice.Hook) time.Time {
	if !hook.CreatedAt.IsZero() {
		return hook.CreatedAt
	}
	if at, ok := e.state(app).Hooks[hook.ID]; ok {
		return time.UnixMilli(at)
	}
	return e.started
}
