package appsextension

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
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
	return k.view(req.app, used)
}

// changed answers a change with the app as it is now.
func (m *management) changed(req *request, k kept, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: m.now(req, k), revision: k.revision}, nil
}

func (m *management) get(req *request) (reply, error) {
	used, err := m.registry.lastUses(req.ctx, req.app)
	if err != nil {
		return reply{}, err
	}
	if m.registry.isDeclared(req.app) {
		v := m.registry.now.Load().apps[req.app].doc.View(req.app, used)
		v.Declared = true
		return reply{status: http.StatusOK, body: v}, nil
	}
	k, err := m.registry.read(req.ctx, req.app)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: k.view(req.app, used), revision: k.revision}, nil
}

func (m *management) replace(req *request) (reply, error) {
	if c, err := req.condition(true); err == nil && c.create {
		return m.create(req)
	}
	var shown []app.Shown
	k, err := m.edit(req, true, func(a *app.App, now time.Time) (err error) {
		shown, err = a.Replace(req.app, req.body, m.registry.vault, now)
		return err
	})
	if err != nil {
		return reply{}, notThere(err)
	}
	m.note(req, "replace", zap.Int64("revision", k.revision))
	return reply{status: http.StatusOK, body: made{View: m.now(req, k), Secrets: shown}, revision: k.revision}, nil
}

// notThere is what RFC 9110 has for If-Match where there is nothing.
func notThere(err error) error {
	if errors.Is(err, storage.ErrNoSetting) {
		return newProblem(http.StatusPreconditionFailed, "there is no app of this id: make it with If-None-Match: *")
	}
	return err
}

func (m *management) create(req *request) (reply, error) {
	if err := m.editable(req.app); err != nil {
		return reply{}, err
	}
	if err := app.CheckID(req.app); err != nil {
		return reply{}, err
	}
	now := time.Now()
	a := app.New(req.app, m.registry.keys, now)
	shown, err := a.Replace(req.app, req.body, m.registry.vault, now)
	if err != nil {
		return reply{}, err
	}
	k, err := m.registry.put(req.ctx, req.app, a, 0, now)
	if err != nil {
		return reply{}, err
	}
	m.note(req, "create", zap.Int64("revision", k.revision))
	return reply{status: http.StatusCreated, body: made{View: m.now(req, k), Secrets: shown}, revision: k.revision, location: pathOf(req.app)}, nil
}

// pathOf is where an app is.
func pathOf(id string) string { return apiApps + "/" + url.PathEscape(id) }

func (m *management) remove(req *request) (reply, error) {
	if err := m.editable(req.app); err != nil {
		return reply{}, err
	}
	c, err := req.condition(true)
	if err != nil {
		return reply{}, err
	}
	if c.create {
		return reply{}, newProblem(http.StatusBadRequest, "If-Match with the app's ETag is needed to delete it")
	}
	if err := m.registry.settings.DeleteSetting(req.ctx, kindApp, req.app, c.revision); err != nil {
		return reply{}, err
	}
	m.registry.soon()
	m.note(req, "delete")
	m.forgetUses(req)
	return reply{status: http.StatusNoContent}, nil
}

// forgetUses deletes what is known of the last uses of an app that is gone. What is left
// when that fails says nothing to anybody.
func (m *management) forgetUses(req *request) {
	_, revision, err := readUses(req.ctx, m.registry.settings, req.app)
	if err == nil && revision != 0 {
		err = m.registry.settings.DeleteSetting(req.ctx, kindUses, req.app, revision)
	}
	if err != nil {
		m.registry.logger.Warn("the last uses of an app that was deleted are left in the store", zap.String("app", req.app), zap.Error(err))
	}
}

func (m *management) addSecret(req *request) (reply, error) {
	if len(req.body) == 0 {
		req.body = []byte("{}")
	}
	var shown app.Shown
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		shown, err = a.AddSecret(req.body, now)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	m.note(req, "add secret", zap.String("secret", shown.ID), zap.Int64("revision", k.revision))
	return reply{status: http.StatusCreated, body: shown, revision: k.revision, location: pathOf(req.app) + "/secrets/" + shown.ID}, nil
}

func (m *management) changeSecret(req *request) (reply, error) {
	return m.changeCredential(req, "change secret", func(a *app.App, id string) error { return a.ChangeSecret(id, req.body) })
}

func (m *management) changeKey(req *request) (reply, error) {
	return m.changeCredential(req, "change key", func(a *app.App, id string) error { return a.ChangeKey(id, req.body) })
}

func (m *management) changeCredential(req *request, action string, change func(*app.App, string) error) (reply, error) {
	id := req.PathValue("credential")
	k, err := m.edit(req, false, func(a *app.App, _ time.Time) error { return change(a, id) })
	if err == nil {
		m.note(req, action, zap.String("credential", id), zap.Int64("revision", k.revision))
	}
	return m.changed(req, k, err)
}

func (m *management) deleteSecret(req *request) (reply, error) {
	return m.deleteCredential(req, "delete secret", (*app.App).DeleteSecret)
}

func (m *management) deleteKey(req *request) (reply, error) {
	return m.deleteCredential(req, "delete key", (*app.App).DeleteKey)
}

func (m *management) deleteCredential(req *request, action string, remove func(*app.App, string) error) (reply, error) {
	id := req.PathValue("credential")
	k, err := m.edit(req, false, func(a *app.App, _ time.Time) error { return remove(a, id) })
	if err != nil {
		return reply{}, err
	}
	m.note(req, action, zap.String("credential", id), zap.Int64("revision", k.revision))
	return reply{status: http.StatusNoContent, revision: k.revision}, nil
}

// keyMade is the answer to a key that was registered; secret is there where it was made.
type keyMade struct {
	ID     string `json:"keyID"`
	Secret string `json:"secret,omitempty"`
}

func (m *management) addKey(req *request) (reply, error) {
	var shown app.Shown
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		shown, err = a.AddKey(req.app, req.body, m.registry.vault, now)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	m.note(req, "add key", zap.String("keyID", shown.ID), zap.Int64("revision", k.revision))
	return reply{
		status: http.StatusCreated, body: keyMade(shown), revision: k.revision,
		location: pathOf(req.app) + "/keys/" + url.PathEscape(shown.ID),
	}, nil
}

func (m *management) revoke(req *request) (reply, error) {
	var what string
	k, err := m.edit(req, false, func(a *app.App, now time.Time) (err error) {
		what, err = a.Revoke(req.body, now)
		return err
	})
	if err == nil {
		m.note(req, "revoke "+what, zap.Int64("revision", k.revision))
	}
	return m.changed(req, k, err)
}

// webhookSecret is the answer to a secret that was replaced; secret is there where it was made.
type webhookSecret struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
}

func (m *management) rotateWebhook(req *request) (reply, error) {
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
		return reply{}, err
	}
	m.note(req, "rotate webhook secret", zap.String("webhook", id), zap.Int64("revision", k.revision))
	return reply{status: http.StatusCreated, body: webhookSecret(shown), revision: k.revision}, nil
}
