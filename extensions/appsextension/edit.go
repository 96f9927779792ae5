package appsextension

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/storage"
)

// editAttempts is how often a change that came without an ETag is tried when others change
// the app at the same time.
const editAttempts = 8

// kept is an app of the store.
type kept struct {
	doc       *app.App
	revision  int64
	changedAt time.Time
}

// read reads an app from the store.
func (r *registry) read(ctx context.Context, id string) (kept, error) {
	s, err := r.settings.Setting(ctx, kindApp, id)
	if err != nil {
		return kept{}, err
	}
	doc, err := app.Decode(s.Body)
	if err != nil {
		return kept{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return kept{doc: doc, revision: s.Revision, changedAt: s.ChangedAt}, nil
}

// put writes an app in place of a revision; 0: where there is none. What was sealed with
// an older master key is sealed anew on the way.
func (r *registry) put(ctx context.Context, id string, doc *app.App, revision int64, now time.Time) (kept, error) {
	doc.Reseal(id, r.vault)
	body, err := doc.Encode()
	if err != nil {
		return kept{}, err
	}
	if len(body) > storage.MaxSettingBodyBytes {
		return kept{}, &jsonobject.Fault{Field: "app", Limit: fmt.Sprintf("take at most %d bytes altogether", storage.MaxSettingBodyBytes), Got: strconv.Itoa(len(body))}
	}
	now = now.UTC().Truncate(time.Millisecond)
	next, err := r.settings.PutSetting(ctx, storage.Setting{Kind: kindApp, ID: id, Revision: revision, ChangedAt: now, Body: body})
	if err != nil {
		return kept{}, err
	}
	r.soon()
	return kept{doc: doc, revision: next, changedAt: now}, nil
}

// edit changes an app of the store. Without an ETag it is tried again when somebody else
// was faster; change is called each time.
func (m *management) edit(req *request, must bool, change func(*app.App, time.Time) error) (kept, error) {
	if err := m.editable(req.app); err != nil {
		return kept{}, err
	}
	c, err := req.condition(must)
	if err != nil {
		return kept{}, err
	}
	for attempt := 1; ; attempt++ {
		now := time.Now()
		have, err := m.registry.read(req.ctx, req.app)
		if err != nil {
			return kept{}, err
		}
		if c.Create || (c.Revision != 0 && c.Revision != have.revision) {
			return kept{}, storage.ErrConflict
		}
		if err := change(have.doc, now); err != nil {
			return kept{}, err
		}
		done, err := m.registry.put(req.ctx, req.app, have.doc, have.revision, now)
		if errors.Is(err, storage.ErrConflict) && c.Revision == 0 && attempt < editAttempts {
			continue
		}
		return done, err
	}
}

// editable refuses apps that the configuration declares.
func (m *management) editable(id string) error {
	if m.registry.isDeclared(id) {
		return jsonapi.NewProblem(http.StatusConflict, "the collector's configuration declares this app: change it there")
	}
	return nil
}

// note writes a change into the audit log: who did what to which app, never a secret.
func (m *management) note(req *request, action string, fields ...zap.Field) {
	m.audit.Info("an app was changed", append([]zap.Field{
		zap.String("by", req.who), zap.String("action", action), zap.String("app", req.app),
	}, fields...)...)
	m.record(req, action, fields)
}
