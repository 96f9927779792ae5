package accessextension

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/accessextension/internal/openid"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// Bounds of the work for sign-ins at the identity provider.
const (
	finishTime    = 30 * time.Second // of all requests to provider and store together
	finishAtOnce  = 16
	finishWaiting = 64
)

// identityProvider is the provider of the configuration; a nil one is none.
type identityProvider struct {
	cfg    *OIDCConfig
	client *openid.Client
	gate   *throttle.Gate
}

// startProvider prepares the provider. It sends no request: a provider that is away does not stop the start.
func (k *keeper) startProvider(ctx context.Context, host component.Host) error {
	cfg := k.cfg.OIDC.Get()
	if cfg == nil {
		return nil
	}
	client, err := cfg.HTTP.ToClient(ctx, host.GetExtensions(), k.set)
	if err != nil {
		return fmt.Errorf("oidc: http: %w", err)
	}
	k.provider = &identityProvider{
		cfg: cfg, gate: throttle.NewGate(finishAtOnce, finishWaiting),
		client: openid.New(openid.Settings{
			Issuer: cfg.Issuer, ClientID: cfg.ClientID, ClientSecret: string(cfg.ClientSecret), RedirectURL: cfg.RedirectURL, Scopes: cfg.Scopes,
		}, client, func() time.Time { return k.now() }),
	}
	return nil
}

// close ends all requests to the provider.
func (p *identityProvider) close() {
	if p != nil {
		p.client.Close()
	}
}

// label names the provider on pages; empty without one.
func (p *identityProvider) label() string {
	if p == nil {
		return ""
	}
	return p.cfg.Label
}

// is reports whether the provider is that of an identity.
func (p *identityProvider) is(i *access.Identity) bool {
	return p != nil && i != nil && i.Issuer == p.cfg.Issuer
}

// signOutURL returns the URL at which users end their session at the provider; empty if it has none.
func (p *identityProvider) signOutURL() string {
	if p == nil {
		return ""
	}
	back, err := url.Parse(p.cfg.RedirectURL)
	if err != nil {
		return ""
	}
	back.Path = "/signin"
	return p.client.SignOutURL(back.String())
}

func secretsOf(a access.Attempt) openid.Secrets {
	return openid.Secrets{State: a.State(), Nonce: a.Nonce(), Verifier: a.Verifier()}
}

// atProvider is a request of a browser to one of the provider's routes, and its answer.
type atProvider struct {
	*keeper
	ctx     context.Context // it lives as long as the request
	w       http.ResponseWriter
	r       *http.Request
	network netip.Prefix
	to      string // where the visitor wants to be
}

// serveProvider turns a function into a handler, where a provider is configured.
func (k *keeper) serveProvider(serve func(*atProvider)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), finishTime)
		defer cancel()
		a := &atProvider{keeper: k, ctx: ctx, w: w, r: r, network: access.Network(r, k.proxies), to: "/"}
		w.Header().Set("Cache-Control", "no-store")
		if k.provider == nil {
			a.refuse(http.StatusNotFound, "form", "This dashboard has no identity provider.", "")
			return
		}
		serve(a)
	}
}

// toProvider leads the browser to the provider. Its link has a token: the page of another site cannot begin a
// sign-in, which would replace the login that the visitor has.
func (a *atProvider) toProvider() {
	a.to = local(a.r.URL.Query().Get("to"))
	if !access.CheckStart(access.ReadCookie(a.r, access.FormCookie), a.r.URL.Query().Get("start")) {
		a.refuse(http.StatusForbidden, "form", textForm, "")
		return
	}
	attempt := access.NewAttempt(a.to)
	location, err := a.provider.client.Begin(a.ctx, secretsOf(attempt))
	if err != nil {
		a.refuseFailure(err)
		return
	}
	access.WriteAttempt(a.w, a.r, attempt)
	http.Redirect(a.w, a.r, location, http.StatusSeeOther)
}

// fromProvider signs in the user whom the provider has signed in for the browser's attempt.
func (a *atProvider) fromProvider() {
	q := a.r.URL.Query()
	attempt, ok := access.TakeAttempt(a.w, a.r, q.Get("state"))
	if !ok {
		a.refuse(http.StatusForbidden, "form", textAttempt, a.note("the browser has no attempt of this state", nil))
		return
	}
	a.to = local(attempt.To)
	// Nobody is known yet: the limit is that of the network.
	source := access.Source{Network: a.network}
	if wait := a.lockout.Begin(source, a.now()); wait > 0 {
		a.refuse(http.StatusTooManyRequests, "throttled", retryAfter(a.w, wait), "")
		return
	}
	answer := openid.Answer{Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error")}
	claims, err := a.ask(secretsOf(attempt), answer)
	if err == nil || notOfBrowser(err) {
		a.lockout.NotFailed(source)
	}
	if err != nil {
		a.refuseFailure(err)
		return
	}
	name, u, err := a.admit(a.ctx, claims)
	if err != nil {
		a.refuseUser(name, err)
		return
	}
	a.welcome(a.ctx, a.w, a.r, entrant{name: name, user: u, method: methodProvider, to: a.to})
}

// ask finishes an attempt. A bounded number of them wait for the provider.
func (a *atProvider) ask(s openid.Secrets, answer openid.Answer) (openid.Claims, error) {
	class := a.lockout.Class(a.network)
	if err := a.provider.gate.Enter(a.ctx, class); err != nil {
		return nil, err
	}
	defer a.provider.gate.Leave(class)
	return a.provider.client.Finish(a.ctx, s, answer, a.provider.cfg.wanted()...)
}

// notOfBrowser reports whether an attempt failed for a reason that its browser does not decide.
func notOfBrowser(err error) bool {
	failure := new(openid.Failure)
	if !errors.As(err, &failure) {
		return true
	}
	return failure.Stage != "authorization" && slices.Contains([]openid.Kind{openid.Away, openid.Setup, openid.Clock}, failure.Kind)
}

// refuse shows the sign-in page with an error, and the ID of its line in the log.
func (a *atProvider) refuse(status int, what, text, id string) {
	a.telemetry.QosaccessSignIns.Add(a.ctx, 1, outcome(what))
	a.showSignIn(a.w, a.r, status, page{Title: "Not signed in", Error: text, ErrorID: id, To: a.to})
}

// refuseFailure answers an attempt that the provider, or the connection to it, failed.
func (a *atProvider) refuseFailure(err error) {
	failure := new(openid.Failure)
	switch {
	case errors.Is(err, throttle.ErrFull):
		a.w.Header().Set("Retry-After", "5")
		a.refuse(http.StatusServiceUnavailable, "busy", textBusy, "")
		return
	case !errors.As(err, &failure):
		failure = &openid.Failure{Kind: openid.Away, Stage: "waiting", Err: err}
	}
	answer := providerAnswers[failure.Kind]
	id := a.note("the sign-in at the identity provider failed", failure, zap.String("kind", string(failure.Kind)))
	a.refuse(answer.status, answer.outcome, answer.text, id)
}

// refuseUser answers a user whom the provider has signed in and qos does not.
func (a *atProvider) refuseUser(name string, err error) {
	denial := new(denial)
	if errors.Is(err, storage.ErrFull) {
		err = errNoRoom
	}
	if !errors.As(err, &denial) {
		a.telemetry.QosaccessStoreErrors.Add(a.ctx, 1)
		a.refuse(http.StatusServiceUnavailable, "failed", textStore, a.note("the store cannot be used", err))
		return
	}
	a.failed(a.ctx, name, a.network, denial.reason)
	a.refuse(http.StatusForbidden, "denied", denial.text, a.note("a user of the identity provider was not signed in", denial, zap.String("user", name)))
}

// note writes a line about a failed attempt into the log, and returns the ID by which it is found. Lines
// are as rare as audit entries of failed attempts: beyond that there is none, and no ID.
func (a *atProvider) note(what string, err error, fields ...zap.Field) (id string) {
	if a.lines.Take(1, failureRate, a.now()) > 0 {
		return ""
	}
	id = access.NewErrorID()
	a.log.Warn(what, append(fields, zap.String("error_id", id), zap.Error(err))...)
	return id
}

// providerAnswer is the answer for a kind of failure.
type providerAnswer struct {
	status        int
	outcome, text string
}

var providerAnswers = map[openid.Kind]providerAnswer{
	openid.Away: {
		http.StatusServiceUnavailable, "provider",
		"The identity provider does not answer at the moment. Try again later, or sign in with a password.",
	},
	openid.Setup: {
		http.StatusBadGateway, "provider",
		"qos and the identity provider are not configured for each other. An administrator of qos can find the reason in the collector's log.",
	},
	openid.Denied: {
		http.StatusForbidden, "denied",
		"The identity provider did not sign you in.",
	},
	openid.Stale: {
		http.StatusForbidden, "wrong",
		"The answer of the identity provider was used already, or it is too old. Begin again.",
	},
	openid.Clock: {
		http.StatusBadGateway, "provider",
		"The clocks of qos and of the identity provider differ by more than 5 minutes. An administrator of qos can find the reason in the collector's log.",
	},
	openid.Invalid: {
		http.StatusBadGateway, "wrong",
		"The answer of the identity provider is not valid for this sign-in. Begin again.",
	},
}
