package accessextension

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

// auditView is an audit entry as the API shows it.
type auditView struct {
	Key   int64     `json:"key"`
	At    time.Time `json:"at"`
	Actor string    `json:"actor,omitempty"` // absent: unknown
	// ActorName is the name that pages show for a user of an identity provider.
	ActorName string          `json:"actorName,omitempty"`
	Action    string          `json:"action"`
	App       string          `json:"app,omitempty"`
	Target    string          `json:"target,omitempty"`
	Hidden    bool            `json:"targetHidden,omitempty"` // the target may be a user's name
	Body      json.RawMessage `json:"details,omitempty"`
}

// listAudit returns audit entries, the newest first. Search terms may be real names of users: they
// are for administrators who are support, too.
func (k *keeper) listAudit(c *call) (jsonapi.Reply, error) {
	limit, err := c.limitOf()
	if err != nil {
		return jsonapi.Reply{}, err
	}
	values := c.URL.Query()
	q := storage.AuditQuery{Actor: values.Get("actor"), Action: values.Get("action"), AppID: values.Get("app"), Limit: limit}
	if text := values.Get("before"); text != "" {
		if q.Before, err = strconv.ParseInt(text, 10, 64); err != nil || q.Before <= 0 {
			return jsonapi.Reply{}, &access.Fault{Field: "before", Limit: "be the next of the previous page", Got: strconv.Quote(clip(text))}
		}
	}
	page, err := k.accounts.AuditPage(c.ctx, q)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	names, err := k.shownNames(c.ctx, page)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	out := struct {
		Entries []auditView `json:"entries"`
		Next    string      `json:"next,omitempty"`
	}{Entries: []auditView{}}
	for i := range page {
		e := &page[i]
		one := auditView{Key: e.Key, At: e.At, Actor: e.Actor, ActorName: names[e.Actor], Action: e.Action, App: e.AppID, Target: e.Target}
		if len(e.Body) > 0 {
			one.Body = e.Body
		}
		if e.Action == access.ActionSearch && !c.visitor.Is(access.Support) {
			one.Hidden, one.Target = e.Target != "", ""
		}
		out.Entries = append(out.Entries, one)
	}
	if len(page) == limit {
		out.Next = strconv.FormatInt(page[limit-1].Key, 10)
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: out}, nil
}

// shownNames returns the present names of the actors of a page who are users of an identity provider.
func (k *keeper) shownNames(ctx context.Context, page []storage.AuditEntry) (map[string]string, error) {
	names := map[string]string{}
	for i := range page {
		actor := page[i].Actor
		if _, done := names[actor]; done || !access.IsIdentityName(actor) {
			continue
		}
		u, _, err := k.readUser(ctx, actor)
		if err != nil && !errors.Is(err, storage.ErrNoSetting) {
			return nil, err
		}
		names[actor] = ""
		if u.Identity != nil {
			names[actor] = u.Identity.Name
		}
	}
	return names, nil
}
