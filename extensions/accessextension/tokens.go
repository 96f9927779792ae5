package accessextension

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxTokens is the number of API tokens of an installation. Requests at the same time may exceed it a little.
	maxTokens = 500
	// keepExpired is how long an expired token is listed.
	keepExpired = 30 * 24 * time.Hour
)

// tokenView is an API token as the API shows it.
type tokenView struct {
	Name      string        `json:"name"`
	Roles     []access.Role `json:"roles"`
	Scope     access.Scope  `json:"scope"`
	Maker     string        `json:"maker"`
	CreatedAt time.Time     `json:"createdAt"`
	ExpiresAt time.Time     `json:"expiresAt"`
	UsedAt    time.Time     `json:"usedAt,omitzero"` // at most an hour before the last request; absent: none
	State     string        `json:"state"`           // valid, expired, or maker: its maker has gone or lost the right
	Token     string        `json:"token,omitempty"` // returned once, when it is made
}

// wantedToken are the members of a request for a token.
type wantedToken struct {
	Name  string        `json:"name"`
	Roles []access.Role `json:"roles"`
	Scope access.Scope  `json:"scope"`
	Days  int           `json:"expiresInDays"`
}

// allTokens returns the tokens, and the settings that have them.
func (k *keeper) allTokens(ctx context.Context) ([]access.APIToken, []storage.Setting, error) {
	page, err := k.settings.SettingsPage(ctx, kindToken, "", 0)
	if err != nil {
		return nil, nil, err
	}
	tokens := make([]access.APIToken, len(page))
	for i := range page {
		if tokens[i], err = access.DecodeAPIToken(page[i].Body); err != nil {
			return nil, nil, err
		}
	}
	return tokens, page, nil
}

// listTokens returns the tokens within the scope of the visitor, by name.
func (k *keeper) listTokens(c *call) (jsonapi.Reply, error) {
	tokens, _, err := k.allTokens(c.ctx)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	out := struct {
		Tokens []tokenView `json:"tokens"`
	}{Tokens: []tokenView{}}
	makers := map[string]*access.User{}
	for i := range tokens {
		t := &tokens[i]
		if !c.visitor.Scope.Covers(t.Scope) {
			continue
		}
		if _, read := makers[t.Maker]; !read {
			u, _, err := k.readUser(c.ctx, t.Maker)
			if err != nil && !errors.Is(err, storage.ErrNoSetting) {
				return jsonapi.Reply{}, err
			}
			makers[t.Maker] = &u // a user who has gone has no rights
		}
		out.Tokens = append(out.Tokens, k.viewOfToken(t, makers[t.Maker]))
	}
	slices.SortFunc(out.Tokens, func(a, b tokenView) int { return cmp.Compare(a.Name, b.Name) })
	return jsonapi.Reply{Status: http.StatusOK, Body: out}, nil
}

func (k *keeper) viewOfToken(t *access.APIToken, maker *access.User) tokenView {
	view := tokenView{
		Name: t.Name, Roles: t.Roles, Scope: t.Scope, Maker: t.Maker, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedAt: t.UsedAt, State: "valid",
	}
	switch {
	case !k.now().Before(t.ExpiresAt):
		view.State = "expired"
	case !k.mayMake(t, maker):
		view.State = "maker"
	}
	return view
}

// makeToken makes a token and returns its text, once.
func (k *keeper) makeToken(c *call) (jsonapi.Reply, error) {
	want := wantedToken{Days: access.DefaultAPITokenDays}
	if err := jsonobject.Decode(c.body, &want); err != nil {
		return jsonapi.Reply{}, err
	}
	maker, _, err := k.readUser(c.ctx, c.visitor.Name)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	text := access.NewAPITokenText(want.Name)
	t, err := k.newToken(&want, c.visitor.Name, &maker, text)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if err := t.CheckMaker(&access.Visitor{Roles: maker.Roles, Scope: maker.Scope}); err != nil {
		k.Refused(c.ctx, c.visitor, "", access.RequestTarget(c.Request), "rights")
		return jsonapi.Reply{}, err
	}
	tokens, _, err := k.allTokens(c.ctx)
	if err == nil && len(tokens) >= maxTokens {
		err = jsonapi.NewProblem(http.StatusConflict, "there are %d API tokens: revoke one first", maxTokens)
	}
	if err == nil {
		err = k.auditToken(c, "create", t)
	}
	if err == nil {
		err = k.putToken(c.ctx, t, 0)
	}
	if errors.Is(err, storage.ErrConflict) {
		err = jsonapi.NewProblem(http.StatusConflict, "there is an API token of this name: choose another one, or revoke it first")
	}
	if err != nil {
		return jsonapi.Reply{}, err
	}
	view := k.viewOfToken(t, &maker)
	view.Token = text
	return jsonapi.Reply{Status: http.StatusCreated, Body: view}, nil
}

// newToken returns the token that a request wants, or its fault.
func (k *keeper) newToken(want *wantedToken, name string, maker *access.User, text string) (*access.APIToken, error) {
	if want.Days < 1 || want.Days > access.MaxAPITokenDays {
		return nil, &access.Fault{Field: "expiresInDays", Limit: "be 1 to " + strconv.Itoa(access.MaxAPITokenDays), Got: strconv.Itoa(want.Days)}
	}
	now := k.now().UTC().Truncate(time.Millisecond)
	t := &access.APIToken{
		Name: want.Name, Roles: want.Roles, Scope: want.Scope, Digest: access.DigestAPIToken(text),
		Maker: name, MakerSince: maker.CreatedAt, CreatedAt: now, ExpiresAt: now.AddDate(0, 0, want.Days),
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}

// auditToken records a change. The entry is first: a change without one must not be.
func (k *keeper) auditToken(c *call, what string, t *access.APIToken) error {
	return k.Record(c.ctx, access.Entry{
		Actor: c.visitor.Name, Action: access.ActionToken, Target: t.Name,
		Body: map[string]any{"change": what, "roles": t.Roles, "scope": t.Scope, "expiresAt": t.ExpiresAt},
	})
}

// revokeToken deletes a token. The time of its last use may be written meanwhile, so it tries again.
func (k *keeper) revokeToken(c *call) (jsonapi.Reply, error) {
	const tries = 5
	for n := 1; ; n++ {
		err := k.revokeOnce(c, access.APITokenID(c.PathValue("token")), n == 1)
		switch {
		case errors.Is(err, storage.ErrNoSetting):
			return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusNotFound, "there is no API token of this name in your scope")
		case !errors.Is(err, storage.ErrConflict) || n == tries:
			return jsonapi.Reply{Status: http.StatusNoContent}, err
		}
	}
}

func (k *keeper) revokeOnce(c *call, id string, audit bool) error {
	t, revision, err := k.readToken(c.ctx, id)
	if err != nil {
		return err
	}
	if t.Name != c.PathValue("token") {
		return storage.ErrNoSetting
	}
	if !c.visitor.Scope.Covers(t.Scope) {
		k.Refused(c.ctx, c.visitor, "", access.RequestTarget(c.Request), "scope")
		return storage.ErrNoSetting
	}
	if audit {
		if err := k.auditToken(c, "revoke", &t); err != nil {
			return err
		}
	}
	return k.settings.DeleteSetting(c.ctx, kindToken, id, revision)
}

// forgetTokens deletes tokens that expired some time ago.
func (k *keeper) forgetTokens(ctx context.Context, now time.Time) error {
	tokens, settings, err := k.allTokens(ctx)
	if err != nil {
		return err
	}
	for i := range tokens {
		if now.Sub(tokens[i].ExpiresAt) < keepExpired {
			continue
		}
		fault := k.settings.DeleteSetting(ctx, kindToken, settings[i].ID, settings[i].Revision)
		if fault != nil && !errors.Is(fault, storage.ErrNoSetting) && !errors.Is(fault, storage.ErrConflict) {
			err = errors.Join(err, fault)
		}
	}
	return err
}
