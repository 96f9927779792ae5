package accessextension

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// maxFormBytes bounds the body of a form.
const maxFormBytes = 8 << 10

// Texts of refusals. That of a wrong password is that of an unknown user, too.
const (
	textWrong   = "The name or the password is wrong."
	textForm    = "This form is too old, or the browser keeps no cookies. Cookies need HTTPS, or this machine. Try again."
	textBusy    = "Too many people sign in at the moment. Try again in some seconds."
	textStore   = "The store does not answer. The collector's log has the reason."
	textAttempt = "This sign-in was begun in another browser, or more than 10 minutes ago. Begin again."
	textLink    = "This link was used, or it is too old. The next start of the collector prints another one."
)

// Handlers returns the handlers of the routes of sign-in and of the users' API, by pattern.
func (k *keeper) Handlers() map[string]http.Handler {
	out := map[string]http.Handler{}
	for pattern, serve := range map[string]http.HandlerFunc{
		"GET /signin":           k.signInPage,
		"POST /signin":          k.signIn,
		"GET /signin/style.css": showStyle,
		"GET /signin/link":      k.showLink,
		"POST /signin/link":     k.signInByLink,

		"GET /signin/provider": k.serveProvider((*atProvider).toProvider),
		"GET " + callbackPath:  k.serveProvider((*atProvider).fromProvider),

		"POST /signout":    k.signOut,
		"GET /password":    k.showPassword,
		"POST /password":   k.changePassword,
		"GET /api/session": k.session,
	} {
		out[pattern] = serve
	}
	for pattern, serve := range k.userAPI() {
		out[pattern] = serve
	}
	return out
}

func (k *keeper) signInPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := page{Title: "Sign in", To: local(q.Get("to"))}
	if q.Has("out") {
		p.Note = "You are signed out."
		if q.Get("out") == methodProvider {
			p.SignOutURL = k.provider.signOutURL()
		}
	}
	k.showSignIn(w, r, http.StatusOK, p)
}

// showSignIn writes the page on which visitors sign in. The caller has set its title and texts.
func (k *keeper) showSignIn(w http.ResponseWriter, r *http.Request, status int, p page) {
	cookie := formCookie(w, r)
	p.Form, p.Start, p.Provider = access.FormToken(cookie), access.StartToken(cookie), k.provider.label()
	k.show(w, status, "signin", p)
}

// readForm reads a form and checks its token. It is false where the attempt is refused.
func (k *keeper) readForm(w http.ResponseWriter, r *http.Request, cookie string) bool {
	defer jsonapi.LimitBodyTime(w)()
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	return r.ParseForm() == nil && access.CheckForm(access.ReadCookie(r, cookie), r.PostForm.Get("form"))
}

func (k *keeper) signIn(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	refuse := func(status int, what, text string) {
		k.telemetry.QosaccessSignIns.Add(ctx, 1, outcome(what))
		k.showSignIn(w, r, status, page{Title: "Sign in", Error: text, To: local(r.PostForm.Get("to")), User: clip(r.PostForm.Get("user"))})
	}
	if !k.readForm(w, r, access.FormCookie) {
		refuse(http.StatusForbidden, "form", textForm)
		return
	}
	name := access.UserName(r.PostForm.Get("user"))
	source := k.source(r, name)
	if wait := k.lockout.Begin(source, k.now()); wait > 0 {
		refuse(http.StatusTooManyRequests, "throttled", retryAfter(w, wait))
		return
	}
	u, known, err := k.check(ctx, source, r.PostForm.Get("password"))
	if err != nil || u != nil {
		k.lockout.NotFailed(source)
	}
	switch {
	case errors.Is(err, throttle.ErrFull):
		w.Header().Set("Retry-After", "5")
		refuse(http.StatusServiceUnavailable, "busy", textBusy)
	case err != nil:
		k.storeAway(ctx, r, err)
		refuse(http.StatusServiceUnavailable, "failed", textStore)
	case u == nil:
		if !known {
			name = ""
		}
		k.failed(ctx, name, source.Network, "password")
		refuse(http.StatusUnauthorized, "wrong", textWrong)
	default:
		ctx, cancel := context.WithTimeout(r.Context(), k.timeout) // the store has its own time: the password took some
		defer cancel()
		k.welcome(ctx, w, r, entrant{name: name, user: u, method: methodPassword, to: r.PostForm.Get("to")})
	}
}

// check returns the user of an attempt with a password; nil where they are wrong. It does the same work
// whether or not there is such a user.
func (k *keeper) check(ctx context.Context, source access.Source, password string) (u *access.User, known bool, err error) {
	var found access.User
	if access.CheckUserName(source.User) == nil {
		found, _, err = k.readUser(ctx, source.User)
		known = err == nil
		if err != nil && !errors.Is(err, storage.ErrNoSetting) {
			return nil, false, err
		}
	}
	ok, err := k.passwords.Check(ctx, k.lockout.Applicant(source), password, found.Password)
	if err != nil || !ok || found.Disabled {
		return nil, known, err
	}
	return &found, true, nil
}

// entrant is a user who has proved who they are.
type entrant struct {
	name   string
	user   *access.User
	method string
	to     string // where the visitor wants to be
}

// welcome begins a login and leads to where the visitor wanted to go.
func (k *keeper) welcome(ctx context.Context, w http.ResponseWriter, r *http.Request, e entrant) {
	details := from(access.Network(r, k.proxies), "method", e.method)
	if e.user.Identity != nil {
		details["name"] = e.user.Identity.Name // the log outlives the user's document
	}
	err := k.Record(ctx, access.Entry{Actor: e.name, Action: access.ActionSignIn, Body: details})
	if err == nil {
		err = k.begin(ctx, w, r, e.name, e.user, e.method)
	}
	if err != nil {
		k.storeAway(ctx, r, err)
		k.telemetry.QosaccessSignIns.Add(ctx, 1, outcome("failed"))
		k.showSignIn(w, r, http.StatusServiceUnavailable, page{Title: "Sign in", Error: textStore, To: "/"})
		return
	}
	k.telemetry.QosaccessSignIns.Add(ctx, 1, outcome("success"))
	k.remember(w, r, e)
	to := local(e.to)
	if e.user.MustChange && e.method == methodPassword {
		to = "/password"
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (k *keeper) storeAway(ctx context.Context, r *http.Request, err error) {
	if r.Context().Err() == nil {
		k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
		k.log.Error("the store cannot be used", zap.String("path", r.URL.Path), zap.Error(err))
	}
}

// showLink shows a button: a program that only follows links uses none up.
func (k *keeper) showLink(w http.ResponseWriter, r *http.Request) {
	k.show(w, http.StatusOK, "link", page{Title: "Sign in", Form: access.FormToken(formCookie(w, r)), Token: clip(r.URL.Query().Get("token"))})
}

func (k *keeper) signInByLink(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	refuse := func(status int, what, text string) {
		k.telemetry.QosaccessSignIns.Add(ctx, 1, outcome(what))
		k.showSignIn(w, r, status, page{Title: "Sign in", Error: text, To: "/"})
	}
	if !k.readForm(w, r, access.FormCookie) {
		refuse(http.StatusForbidden, "form", textForm)
		return
	}
	source := access.Source{Network: access.Network(r, k.proxies)}
	if wait := k.lockout.Begin(source, k.now()); wait > 0 {
		refuse(http.StatusTooManyRequests, "throttled", retryAfter(w, wait))
		return
	}
	name, err := k.useLink(ctx, r.PostForm.Get("token"))
	var u access.User
	if err == nil && name != "" {
		u, _, err = k.readUser(ctx, name)
	}
	unchecked := err != nil && !errors.Is(err, storage.ErrNoSetting)
	signedIn := err == nil && name != "" && !u.Disabled
	if unchecked || signedIn {
		k.lockout.NotFailed(source)
	}
	switch {
	case unchecked:
		k.storeAway(ctx, r, err)
		refuse(http.StatusServiceUnavailable, "failed", textStore)
	case !signedIn:
		k.failed(ctx, name, source.Network, methodLink)
		refuse(http.StatusUnauthorized, "wrong", textLink)
	default:
		k.welcome(ctx, w, r, entrant{name: name, user: &u, method: methodLink})
	}
}

// signOut ends the login.
func (k *keeper) signOut(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	v := access.From(r.Context())
	if v == nil || !k.readForm(w, r, access.LoginCookie) {
		k.show(w, http.StatusForbidden, "denied", page{Title: "Not signed out", Error: textForm})
		return
	}
	err := k.accounts.DeleteLogin(ctx, access.Digest(access.ReadCookie(r, access.LoginCookie)))
	if err == nil {
		err = k.Record(ctx, access.Entry{Actor: v.Name, Action: access.ActionSignOut})
	}
	if err != nil {
		k.storeAway(ctx, r, err)
		k.show(w, http.StatusServiceUnavailable, "denied", page{Title: "Not signed out", Error: textStore})
		return
	}
	access.WriteCookie(w, r, access.LoginCookie, "")
	to := "/signin?out"
	if v.Method == methodProvider {
		to += "=" + methodProvider // where the page has a link that ends the session there, too
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// clip bounds what a page repeats.
func clip(text string) string { return text[:min(len(text), 128)] }
