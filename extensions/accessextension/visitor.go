package accessextension

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// Methods of sign-in.
const (
	methodPassword = "password"
	methodLink     = "link"
	methodProvider = "oidc"
)

// Visitor returns the visitor of a request; nil without a login that is valid now. The error is an
// access.Refusal of its API token, or that of a store that does not answer.
func (k *keeper) Visitor(r *http.Request) (*access.Visitor, error) {
	if text, err := access.BearerToken(r); err != nil || text != "" {
		return k.tokenVisitor(r, text, err)
	}
	token := access.ReadCookie(r, access.LoginCookie)
	digest := access.Digest(token)
	if digest == nil {
		return nil, nil // nobody
	}
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	v, err := k.visitor(ctx, digest)
	if err != nil && r.Context().Err() == nil {
		k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
		k.log.Error("a login cannot be read", zap.Error(err))
	}
	return v, err
}

func (k *keeper) visitor(ctx context.Context, digest []byte) (*access.Visitor, error) {
	l, err := k.accounts.Login(ctx, digest)
	if errors.Is(err, storage.ErrNoLogin) {
		return nil, nil // nobody
	}
	if err != nil {
		return nil, err
	}
	now := k.now()
	u, _, err := k.readUser(ctx, l.User)
	if err != nil && !errors.Is(err, storage.ErrNoSetting) {
		return nil, err
	}
	foreign := l.Method == methodProvider && !k.provider.is(u.Identity) // the configuration has another provider now, or none
	if err != nil || u.Disabled || u.Generation != l.Generation || foreign || k.limits.Ended(l.CreatedAt, l.SeenAt, now) {
		k.telemetry.QosaccessRejectedRequests.Add(ctx, 1, reason("login_ended"))
		return nil, nil // nobody; the next sweep deletes the login
	}
	if now.Sub(l.SeenAt) >= access.SeeEvery {
		if err := k.accounts.SeeLogin(ctx, digest, now); err != nil {
			return nil, err
		}
	}
	shown := ""
	if u.Identity != nil {
		shown = u.Identity.Name
	}
	return &access.Visitor{
		Name: l.User, Shown: shown, Login: access.LoginName(digest), Method: l.Method, Roles: u.Roles, Scope: u.Scope,
		MustChange: u.MustChange && l.Method == methodPassword,
	}, nil
}

// begin makes a login of a user and gives it to the browser. An earlier one of the browser ends.
func (k *keeper) begin(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, u *access.User, method string) error {
	if old := access.Digest(access.ReadCookie(r, access.LoginCookie)); old != nil {
		if err := k.accounts.DeleteLogin(ctx, old); err != nil {
			return err
		}
	}
	token, now := access.NewToken(), k.now().UTC().Truncate(time.Millisecond)
	err := k.accounts.AddLogin(ctx, storage.Login{
		ID: access.Digest(token), User: name, Generation: u.Generation, Method: method, CreatedAt: now, SeenAt: now,
	}, access.MaxLogins)
	if err != nil {
		return err
	}
	access.WriteCookie(w, r, access.LoginCookie, token)
	return nil
}

func reason(text string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("reason", text))
}

func outcome(text string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("outcome", text))
}
