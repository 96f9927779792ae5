package accessextension

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// passwordPage is the page on which a visitor changes the password. The present password is asked
// for, but not of one who came by a link: that is how a lost password is replaced.
func passwordPage(r *http.Request, v *access.Visitor) page {
	return page{
		Title: "Change password", Form: access.FormToken(access.ReadCookie(r, access.LoginCookie)),
		First: v.MustChange, Current: v.Method == methodPassword, User: v.Name, Min: access.MinPassword,
	}
}

func (k *keeper) showPassword(w http.ResponseWriter, r *http.Request) {
	v := access.From(r.Context())
	if k.noPassword(w, r, http.StatusOK, v) {
		return
	}
	k.show(w, http.StatusOK, "password", passwordPage(r, v))
}

// noPassword shows who signed in at the identity provider, and where the password is. It is false for others.
func (k *keeper) noPassword(w http.ResponseWriter, r *http.Request, status int, v *access.Visitor) bool {
	if !access.IsIdentityName(v.Name) {
		return false
	}
	k.show(w, status, "denied", page{
		Title: "Your account", User: v.ShownName(), Form: access.FormToken(access.ReadCookie(r, access.LoginCookie)),
		Note: "You signed in with " + k.provider.label() + ". Your password is kept there and not by qos.",
	})
	return true
}

// changePassword writes a new password. It ends all logins of the user and begins another one.
func (k *keeper) changePassword(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	v := access.From(r.Context())
	if k.noPassword(w, r, http.StatusForbidden, v) {
		return
	}
	refuse := func(status int, field, text string) {
		p := passwordPage(r, v)
		p.Error, p.Field = text, field
		k.show(w, status, "password", p)
	}
	if !k.readForm(w, r, access.LoginCookie) {
		refuse(http.StatusForbidden, "", textForm)
		return
	}
	next := r.PostForm.Get("next")
	if next != r.PostForm.Get("again") {
		refuse(http.StatusUnprocessableEntity, "again", "The two new passwords differ.")
		return
	}
	fault := (*access.Fault)(nil)
	if errors.As(access.CheckPassword(v.Name, next), &fault) {
		refuse(http.StatusUnprocessableEntity, "next", "The new password must "+fault.Limit+".")
		return
	}
	if wait := k.lockout.Begin(k.signedIn(v), k.now()); wait > 0 {
		refuse(http.StatusTooManyRequests, "", retryAfter(w, wait))
		return
	}
	u, err := k.replacePassword(ctx, r, v, next)
	if !errors.Is(err, errWrong) {
		k.lockout.NotFailed(k.signedIn(v))
	}
	switch {
	case errors.Is(err, errWrong):
		refuse(http.StatusForbidden, "current", "The present password is wrong.")
	case errors.Is(err, errSame):
		refuse(http.StatusUnprocessableEntity, "next", "The new password is the present one.")
	case errors.Is(err, throttle.ErrFull):
		refuse(http.StatusServiceUnavailable, "", textBusy)
	case errors.Is(err, storage.ErrConflict):
		refuse(http.StatusConflict, "", "Your account was changed meanwhile. Try again.")
	case err != nil:
		k.storeAway(ctx, r, err)
		refuse(http.StatusServiceUnavailable, "", textStore)
	default:
		k.welcome(ctx, w, r, entrant{name: v.Name, user: u, method: methodPassword})
	}
}

var (
	errWrong = errors.New("the present password is wrong")
	errSame  = errors.New("the new password is the present one")
)

// replacePassword checks the present password of a visitor and writes the next.
func (k *keeper) replacePassword(ctx context.Context, r *http.Request, v *access.Visitor, next string) (*access.User, error) {
	applicant := k.lockout.Applicant(k.signedIn(v))
	u, revision, err := k.readUser(ctx, v.Name)
	if err != nil {
		return nil, err
	}
	if v.Method == methodPassword {
		if ok, err := k.passwords.Check(ctx, applicant, r.PostForm.Get("current"), u.Password); err != nil || !ok {
			return nil, errors.Join(err, wrongUnless(err))
		}
	}
	if same, err := k.passwords.Check(ctx, applicant, next, u.Password); err != nil || same {
		if err == nil {
			err = errSame
		}
		return nil, err
	}
	if u.Password, err = k.passwords.Hash(ctx, applicant, next); err != nil {
		return nil, err
	}
	u.MustChange, u.PasswordAt = false, k.now().UTC().Truncate(time.Millisecond)
	u.Generation++
	if err := k.Record(ctx, access.Entry{Actor: v.Name, Action: access.ActionPassword, Target: v.Name}); err != nil {
		return nil, err
	}
	if _, err := k.putUser(ctx, v.Name, u, revision); err != nil {
		return nil, err
	}
	return &u, k.accounts.DeleteLogins(ctx, v.Name, nil)
}

func wrongUnless(err error) error {
	if err == nil {
		return errWrong
	}
	return nil
}
