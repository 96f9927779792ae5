package accessextension

import (
	"net/http"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/storage"
)

// Bounds of a page of users or audit entries.
const (
	defaultPage = 50
	maxPage     = 200
)

// userView is a user as the API shows it.
type userView struct {
	Name       string        `json:"name"`
	Roles      []access.Role `json:"roles"`
	Scope      access.Scope  `json:"scope"`
	Disabled   bool          `json:"disabled"`
	MustChange bool          `json:"mustChange"`
	CreatedAt  time.Time     `json:"createdAt"`
	PasswordAt time.Time     `json:"passwordAt,omitzero"`
	Revision   int64         `json:"revision"`
	Password   string        `json:"password,omitempty"` // returned once, when it is made
	// Identity is the account at an identity provider; absent: a local user.
	Identity *access.Identity `json:"identity,omitempty"`
}

func viewOf(name string, u *access.User, revision int64) userView {
	return userView{
		Name: name, Roles: u.Roles, Scope: u.Scope, Disabled: u.Disabled, MustChange: u.MustChange,
		CreatedAt: u.CreatedAt, PasswordAt: u.PasswordAt, Revision: revision, Identity: u.Identity,
	}
}

// limitOf reads the parameter limit.
func (c *call) limitOf() (int, error) {
	text := c.URL.Query().Get("limit")
	if text == "" {
		return defaultPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, &access.Fault{Field: "limit", Limit: "be 1 to " + strconv.Itoa(maxPage), Got: strconv.Quote(clip(text))}
	}
	return n, nil
}

func (k *keeper) listUsers(c *call) (jsonapi.Reply, error) {
	limit, err := c.limitOf()
	if err != nil {
		return jsonapi.Reply{}, err
	}
	page, err := k.settings.SettingsPage(c.ctx, kindUser, c.URL.Query().Get("after"), limit+1)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	out := struct {
		Users []userView `json:"users"`
		Next  string     `json:"next,omitempty"`
	}{Users: []userView{}}
	if len(page) > limit {
		page, out.Next = page[:limit], page[limit-1].ID
	}
	for i := range page {
		u, err := access.DecodeUser(page[i].Body)
		if err != nil {
			return jsonapi.Reply{}, err
		}
		out.Users = append(out.Users, viewOf(page[i].ID, &u, page[i].Revision))
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: out}, nil
}

func (k *keeper) getUser(c *call) (jsonapi.Reply, error) {
	u, revision, err := k.readUser(c.ctx, c.user)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: viewOf(c.user, &u, revision), Revision: revision}, nil
}

// rights are the members of a user that a request writes.
type rights struct {
	Roles    []access.Role `json:"roles"`
	Scope    access.Scope  `json:"scope"`
	Disabled bool          `json:"disabled"`
}

func (k *keeper) putUserAPI(c *call) (jsonapi.Reply, error) {
	condition, err := jsonapi.ReadCondition(c.Request, "the user", true)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	revision := condition.Revision
	if condition.Create || !access.IsIdentityName(c.user) { // the users of a provider are made at their first sign-in
		if err := access.CheckUserName(c.user); err != nil {
			return jsonapi.Reply{}, err
		}
	}
	var want rights
	if err := jsonobject.Decode(c.body, &want); err != nil {
		return jsonapi.Reply{}, err
	}
	if condition.Create {
		return k.makeUser(c, want)
	}
	u, have, err := k.readUser(c.ctx, c.user)
	if err == nil && have != revision {
		err = storage.ErrConflict
	}
	if err != nil {
		return jsonapi.Reply{}, err
	}
	before := u
	if u.Disabled != want.Disabled {
		u.Generation++
	}
	u.Roles, u.Scope, u.Disabled = want.Roles, want.Scope, want.Disabled
	if err := u.Check(); err != nil {
		return jsonapi.Reply{}, err
	}
	if u.Identity != nil && !sameRights(&u, &before) {
		return jsonapi.Reply{}, &access.Fault{Field: "roles and scope", Limit: "be those that the identity provider decides: only disabled can be changed", Got: "others"}
	}
	if before.Manages() && !u.Manages() {
		if err := k.othersManage(c); err != nil {
			return jsonapi.Reply{}, err
		}
	}
	return k.changed(c, u, revision, "rights", http.StatusOK, "")
}

func (k *keeper) makeUser(c *call, want rights) (jsonapi.Reply, error) {
	now, password := k.now().UTC().Truncate(time.Millisecond), access.NewPassword()
	u := access.User{Roles: want.Roles, Scope: want.Scope, Disabled: want.Disabled, MustChange: true, CreatedAt: now, PasswordAt: now}
	// The name may have been that of a user before, whose logins must not come to life again.
	u.Generation = now.UnixMilli()
	if err := u.Check(); err != nil {
		return jsonapi.Reply{}, err
	}
	var err error
	if u.Password, err = k.passwords.Hash(c.ctx, k.lockout.Applicant(k.signedIn(c.visitor)), password); err != nil {
		return jsonapi.Reply{}, err
	}
	return k.changed(c, u, 0, "create", http.StatusCreated, password)
}

// changed records a change and writes it. The entry is first: a change without one must not be.
func (k *keeper) changed(c *call, u access.User, revision int64, what string, status int, password string) (jsonapi.Reply, error) {
	err := k.Record(c.ctx, access.Entry{
		Actor: c.visitor.Name, Action: access.ActionUser, Target: c.user,
		Body: map[string]any{"change": what, "roles": u.Roles, "scope": u.Scope, "disabled": u.Disabled},
	})
	if err != nil {
		return jsonapi.Reply{}, err
	}
	next, err := k.putUser(c.ctx, c.user, u, revision)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	view := viewOf(c.user, &u, next)
	view.Password = password
	return jsonapi.Reply{Status: status, Body: view, Revision: next}, nil
}

func (k *keeper) deleteUser(c *call) (jsonapi.Reply, error) {
	condition, err := jsonapi.ReadCondition(c.Request, "the user", true)
	if err == nil && condition.Create {
		err = jsonapi.NewProblem(http.StatusBadRequest, "If-Match with the user's ETag is needed to delete it")
	}
	if err != nil {
		return jsonapi.Reply{}, err
	}
	revision := condition.Revision
	u, have, err := k.readUser(c.ctx, c.user)
	if err == nil && have != revision {
		err = storage.ErrConflict
	}
	if err == nil && u.Manages() {
		err = k.othersManage(c)
	}
	if err == nil {
		err = k.Record(c.ctx, access.Entry{Actor: c.visitor.Name, Action: access.ActionUser, Target: c.user, Body: map[string]any{"change": "delete"}})
	}
	if err == nil {
		err = k.settings.DeleteSetting(c.ctx, kindUser, c.user, revision)
	}
	if err == nil {
		err = k.accounts.DeleteLogins(c.ctx, c.user, nil)
	}
	return jsonapi.Reply{Status: http.StatusNoContent}, err
}

// resetPassword makes a password that the user must change, and ends all logins.
func (k *keeper) resetPassword(c *call) (jsonapi.Reply, error) {
	u, revision, err := k.readUser(c.ctx, c.user)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if u.Identity != nil {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusConflict, "a user of an identity provider has no password here")
	}
	password := access.NewPassword()
	if u.Password, err = k.passwords.Hash(c.ctx, k.lockout.Applicant(k.signedIn(c.visitor)), password); err != nil {
		return jsonapi.Reply{}, err
	}
	u.MustChange, u.PasswordAt = true, k.now().UTC().Truncate(time.Millisecond)
	u.Generation++
	return k.changed(c, u, revision, "password", http.StatusOK, password)
}

// endLogins ends all logins of a user.
func (k *keeper) endLogins(c *call) (jsonapi.Reply, error) {
	u, revision, err := k.readUser(c.ctx, c.user)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	u.Generation++
	return k.changed(c, u, revision, "signOut", http.StatusOK, "")
}
