package appsextension

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

// made is an answer with secrets that are returned this once.
type made struct {
	app.View
	Secrets []app.Shown `json:"webhookSecrets,omitempty"`
}

// view is how an app of the store is seen.
func (k kept) view(id string, used app.LastUse) app.View {
	v := k.doc.View(id, used)
	v.Revision, v.ChangedAt = k.revision, k.changedAt
	return v
}

// now is an app after a change. The change is made and may have returned secrets that nobody
// tells again, so it is answered even where the last uses cannot be read.
func (m *management) now(req *request, k kept) app.View {
	used, err := m.registry.lastUses(req.ctx, req.app)
	if err != nil {
		m.registry.logger.Warn("a change was answered without the last uses of the app's credentials", zap.String("app", req.app), zap.Error(err))
	}
	return m.withBytes(k.view(req.app, used))
}

// withBytes adds the bytes of the day to an app.
func (m *management) withBytes(v app.View) app.View {
	v.BytesToday = m.registry.quotas.today(v.ID, time.Now())
	return v
}

// changed answers a change with the app as it is now.
func (m *management) changed(req *request, k kept, err error) (jsonapi.Reply, error) {
	if err != nil {
		return jsonapi.Reply{}, err
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: m.now(req, k), Revision: k.revision}, nil
}

func (m *management) get(req *request) (jsonapi.Reply, error) {
	used, err := m.registry.lastUses(req.ctx, req.app)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if m.registry.isDeclared(req.app) {
		v := m.registry.now.Load().apps[req.app].App.View(req.app, used)
		v.Declared = true
		return jsonapi.Reply{Status: http.StatusOK, Body: m.withBytes(v)}, nil
	}
	k, err := m.registry.read(req.ctx, req.app)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: m.withBytes(k.view(req.app, used)), Revision: k.revision}, nil
}

func (m *management) replace(req *request) (jsonapi.Reply, error) {
	if c, err := req.condition(true); err == nil && c.Create {
		return m.create(req)
	}
	var shown []app.Shown
	k, err := m.edit(req, true, func(a *app.App, now time.Time) (err error) {
		shown, err = a.Replace(req.app, req.body, m.registry.vault, now, m.registry.cfg.PrivateSuffixes)
		return err
	})
	if err != nil {
		return jsonapi.Reply{}, notThere(err)
	}
	m.note(req, "replace", zap.Int64("revision", k.revision))
	return jsonapi.Reply{Status: http.StatusOK, Body: made{View: m.now(req, k), Secrets: shown}, Revision: k.revision}, nil
}

// notThere is what RFC 9110 has for If-Match where there is nothing.
func notThere(err error) error {
	if errors.Is(err, storage.ErrNoSetting) {
		return jsonapi.NewProblem(http.StatusPreconditionFailed, "there is no app of this id: make it with If-None-Match: *")
	}
	return err
}

func (m *management) create(req *request) (jsonapi.Reply, error) {
	if err := m.editable(req.app); err != nil {
		return jsonapi.Reply{}, err
	}
	if err := app.CheckID(req.app); err != nil {
		return jsonapi.Reply{}, err
	}
	now := time.Now()
	a := app.New(req.app, m.registry.keys, now)
	shown, err := a.Replace(req.app, req.body, m.registry.vault, now, m.registry.cfg.PrivateSuffixes)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	k, err := m.registry.put(req.ctx, req.app, a, 0, now)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.note(req, "create", zap.Int64("revision", k.revision))
	return jsonapi.Reply{Status: http.StatusCreated, Body: made{View: m.now(req, k), Secrets: shown}, Revision: k.revision, Location: pathOf(req.app)}, nil
}

// pathOf is where an app is.
func pathOf(id string) string { return apiApps + "/" + url.PathEscape(id) }

func (m *management) remove(req *request) (jsonapi.Reply, error) {
	if err := m.editable(req.app); err != nil {
		return jsonapi.Reply{}, err
	}
	c, err := req.condition(true)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if c.Create {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusBadRequest, "If-Match with the app's ETag is needed to delete it")
	}
	if err := m.registry.settings.DeleteSetting(req.ctx, kindApp, req.app, c.Revision); err != nil {
		return jsonapi.Reply{}, err
	}
	m.registry.soon()
	m.note(req, "delete")
	m.forget(req, kindUses, "the last uses of an app that was deleted are left in the store")
	m.registry.quotas.forget(req.app)
	m.forget(req, kindBytes, "the bytes of an app that was deleted are left in the store")
	return jsonapi.Reply{Status: http.StatusNoContent}, nil
}

// forget deletes a setting of an app that was deleted. If that fails, the setting that is left means nothing.
func (m *management) forget(req *request, kind, left string) {
	s, err := m.registry.settings.Setting(req.ctx, kind, req.app)
	if err == nil {
		err = m.registry.settings.DeleteSetting(req.ctx, kind, req.app, s.Revision)
	}
	if err != nil && !errors.Is(err, storage.ErrNoSetting) {
		m.registry.logger.Warn(left, zap.String("app", req.app), zap.Error(err))
	}
}

func (m *management) addSecret(req *request) (jsonapi.Reply, error) {
	if len(req.body) == 0 {
		req.body = []byte("{}")
	}
	var shown app.Shown
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		shown, err = a.AddSecret(req.body, now)
		return err
	})
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.note(req, "add secret", zap.String("secret", shown.ID), zap.Int64("revision", k.revision))
	return jsonapi.Reply{Status: http.StatusCreated, Body: shown, Revision: k.revision, Location: pathOf(req.app) + "/secrets/" + shown.ID}, nil
}

func (m *management) changeSecret(req *request) (jsonapi.Reply, error) {
	return m.changeCredential(req, "change secret", func(a *app.App, id string) error { return a.ChangeSecret(id, req.body) })
}

func (m *management) changeKey(req *request) (jsonapi.Reply, error) {
	return m.changeCredential(req, "change key", func(a *app.App, id string) error { return a.ChangeKey(id, req.body) })
}

func (m *management) changeCredential(req *request, action string, change func(*app.App, string) error) (jsonapi.Reply, error) {
	id := req.PathValue("credential")
	k, err := m.edit(req, false, func(a *app.App, _ time.Time) error { return change(a, id) })
	if err == nil {
		m.note(req, action, zap.String("credential", id), zap.Int64("revision", k.revision))
	}
	return m.changed(req, k, err)
}

func (m *management) deleteSecret(req *request) (jsonapi.Reply, error) {
	return m.deleteCredential(req, "delete secret", (*app.App).DeleteSecret)
}

func (m *management) deleteKey(req *request) (jsonapi.Reply, error) {
	return m.deleteCredential(req, "delete key", (*app.App).DeleteKey)
}

func (m *management) deleteCredential(req *request, action string, remove func(*app.App, string) error) (jsonapi.Reply, error) {
	id := req.PathValue("credential")
	k, err := m.edit(req, false, func(a *app.App, _ time.Time) error { return remove(a, id) })
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.note(req, action, zap.String("credential", id), zap.Int64("revision", k.revision))
	return jsonapi.Reply{Status: http.StatusNoContent, Revision: k.revision}, nil
}

// keyMade is the answer to a key that was registered; secret is there where it was made.
type keyMade struct {
	ID     string `json:"keyID"`
	Secret string `json:"secret,omitempty"`
}

func (m *management) addKey(req *request) (jsonapi.Reply, error) {
	var shown app.Shown
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		shown, err = a.AddKey(req.app, req.body, m.registry.vault, now)
		return err
	})
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.note(req, "add key", zap.String("keyID", shown.ID), zap.Int64("revision", k.revision))
	return jsonapi.Reply{
		Status: http.StatusCreated, Body: keyMade(shown), Revision: k.revision,
		Location: pathOf(req.app) + "/keys/" + url.PathEscape(shown.ID),
	}, nil
}

func (m *management) revoke(req *request) (jsonapi.Reply, error) {
	var what string
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		what, err = a.Revoke(req.app, req.body, m.registry.vault, now)
		return err
	})
	if err == nil {
		m.note(req, "revoke "+what, zap.Int64("revision", k.revision))
	}
	return m.changed(req, k, err)
}

func (m *management) rotateWebhook(req *request) (jsonapi.Reply, error) {
	if len(req.body) == 0 {
		req.body = []byte("{}")
	}
	var shown app.Shown
	id := req.PathValue("webhook")
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		shown, err = a.RotateWebhook(req.app, id, req.body, m.registry.vault, now)
		return err
	})
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.note(req, "rotate webhook secret", zap.String("webhook", id), zap.Int64("revision", k.revision))
	return jsonapi.Reply{Status: http.StatusCreated, Body: shown, Revision: k.revision}, nil
}

func (m *management) rotateUserIDKey(req *request) (jsonapi.Reply, error) {
	if len(req.body) == 0 {
		req.body = []byte("{}")
	}
	k, err := m.edit(req, false, func(a *app.App, _ time.Time) error {
		return a.RotateUserIDKey(req.app, req.body, m.registry.vault)
	})
	if err == nil {
		m.note(req, "rotate user ID key", zap.Int64("revision", k.revision))
	}
	return m.changed(req, k, err)
}
