package appsextension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// recorder is an access extension, which has the audit log of the store.
type recorder interface {
	Record(ctx context.Context, e access.Entry) error
	Refused(ctx context.Context, v *access.Visitor, appID, target, why string)
}

// findRecorder returns the access extension; nil where none is configured.
func (r *registry) findRecorder(host component.Host) (recorder, error) {
	id := r.cfg.Access
	if id == (component.ID{}) {
		return nil, nil // none
	}
	found, ok := host.GetExtensions()[id].(recorder)
	if !ok {
		return nil, fmt.Errorf("access: extension %q is not an access extension that is listed under service::extensions", id)
	}
	return found, nil
}

// newManagement returns the API without a server.
func (r *registry) newManagement() *management {
	return &management{registry: r, audit: r.logger.Named("audit"), strangers: throttle.NewTable(int(strangerKinds), time.Now())}
}

// ManagementHandlers returns the handlers of the management API for a server that signs users in, by
// pattern; none without a store. The server has checked the need of the route; it is checked again, so
// that no server can forget it.
func (r *registry) ManagementHandlers() map[string]http.Handler {
	out := map[string]http.Handler{}
	if r.settings == nil {
		return out
	}
	m := r.newManagement()
	for _, route := range routes() {
		pattern := route.method + " " + route.path
		if need, ok := access.NeedOf(pattern); ok { // a server registers no other
			out[pattern] = m.signedIn(need, m.answer(route))
		}
	}
	return out
}

// signedIn serves a request of a user. An app that is not in the user's scope does not exist.
func (m *management) signedIn(need access.Need, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		v := access.From(r.Context())
		id := r.PathValue("app")
		switch {
		case !access.Settings.Allows(v):
			m.count(r.Context(), "unauthorized")
			jsonapi.NewProblem(http.StatusForbidden, "the management API is for users with the role admin").Write(w)
		case !need.Allows(v):
			m.count(r.Context(), "unauthorized")
			m.refused(r, v, id, "role")
			jsonapi.NewProblem(http.StatusForbidden, "an export has names of users: it needs the role support, or all apps in scope").Write(w)
		case id != "" && !v.Scope.Has(id):
			m.count(r.Context(), "refused")
			m.refused(r, v, id, "scope")
			jsonapi.NewProblem(http.StatusNotFound, "there is no such app").Write(w)
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, v.Name)))
		}
	})
}

// refused writes a request that the rights of a user do not permit into the audit log of the store.
func (m *management) refused(r *http.Request, v *access.Visitor, appID, why string) {
	if m.registry.recorder != nil {
		m.registry.recorder.Refused(r.Context(), v, appID, access.RequestTarget(r), why)
	}
}

// listScope lists the apps of a scope.
func (m *management) listScope(req *request, ids []string, q listQuery) (jsonapi.Reply, error) {
	declared := map[string]listed{}
	for _, one := range m.declaredAfter(q.after) {
		declared[one.ID] = one
	}
	apps := []listed{}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if id <= q.after {
			continue
		}
		if one, ok := declared[id]; ok {
			apps = append(apps, one)
			continue
		}
		s, err := m.registry.settings.Setting(req.ctx, kindApp, id)
		if errors.Is(err, storage.ErrNoSetting) {
			continue
		}
		if err != nil {
			return jsonapi.Reply{}, err
		}
		apps = append(apps, listedOf(&s))
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: cut(q.matching(apps), q.limit)}, nil
}

// actor is who sent a request, in the audit log of the store.
func (req *request) actor() string {
	if access.From(req.ctx) == nil {
		return "token " + req.who
	}
	return req.who
}

// record writes a change that was made into the audit log of the store. The change is answered even where
// it cannot be written; the access extension logs and counts that.
func (m *management) record(req *request, action string, fields []zap.Field) {
	if m.registry.recorder == nil {
		return
	}
	body := map[string]any{"change": action}
	more := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(more)
	}
	maps.Copy(body, more.Fields)
	_ = m.registry.recorder.Record(req.ctx, access.Entry{Actor: req.actor(), Action: access.ActionApp, AppID: req.app, Target: req.app, Body: body})
}
