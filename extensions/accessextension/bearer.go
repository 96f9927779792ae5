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

// Texts of refusals of API tokens. A wrong, an expired and a revoked one have the same.
const (
	textToken  = "The API token is wrong, has expired or was revoked."
	textTokens = "There were too many requests with wrong API tokens from this network."
)

// tokenVisitor returns the visitor of a request with an API token.
func (k *keeper) tokenVisitor(r *http.Request, text string, ambiguous error) (*access.Visitor, error) {
	if ambiguous != nil {
		return nil, ambiguous
	}
	ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
	defer cancel()
	network := access.Network(r, k.proxies)
	if wait := k.lockout.TokenWait(network, k.now()); wait > 0 {
		k.telemetry.QosaccessTokenRequests.Add(ctx, 1, result("throttled"))
		return nil, &access.Refusal{Status: http.StatusTooManyRequests, Text: textTokens, Wait: wait}
	}
	t, err := k.validToken(ctx, text)
	switch {
	case err != nil:
		if r.Context().Err() == nil {
			k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
			k.log.Error("an API token cannot be read", zap.Error(err))
		}
		return nil, err
	case t == nil:
		k.lockout.WrongToken(network, k.now())
		k.limited(ctx, access.Entry{Action: access.ActionRefused, Target: access.RequestTarget(r), Body: from(network, "reason", "token")})
		k.telemetry.QosaccessTokenRequests.Add(ctx, 1, result("wrong"))
		return nil, &access.Refusal{Status: http.StatusUnauthorized, Text: textToken}
	}
	k.telemetry.QosaccessTokenRequests.Add(ctx, 1, result("accepted"))
	return t.Visitor(), nil
}

// validToken returns the token of a text; nil where it is not valid now. Each request reads it, so that a
// revocation holds in every collector of the store at once.
func (k *keeper) validToken(ctx context.Context, text string) (*access.APIToken, error) {
	id, digest, ok := access.ParseAPIToken(text)
	if !ok {
		return nil, nil // none
	}
	t, revision, err := k.readToken(ctx, id)
	if errors.Is(err, storage.ErrNoSetting) {
		return nil, nil // none
	}
	if err != nil {
		return nil, err
	}
	if !t.Valid(digest, k.now()) {
		return nil, nil // none
	}
	maker, _, err := k.readUser(ctx, t.Maker)
	if err != nil && !errors.Is(err, storage.ErrNoSetting) {
		return nil, err
	}
	if err != nil || !k.mayMake(&t, &maker) {
		return nil, nil // the maker has gone, or has lost the right
	}
	return &t, k.seeToken(ctx, &t, revision)
}

// mayMake reports whether a user is the maker of a token and may make it still.
func (k *keeper) mayMake(t *access.APIToken, u *access.User) bool {
	foreign := u.Identity != nil && !k.provider.is(u.Identity) // the configuration has another provider now, or none
	return !foreign && t.MadeBy(u)
}

// seeToken records that a token is used. Another request may have done so, or have revoked it meanwhile.
func (k *keeper) seeToken(ctx context.Context, t *access.APIToken, revision int64) error {
	now := k.now().UTC().Truncate(time.Millisecond)
	if now.Sub(t.UsedAt) < access.SeeTokenEvery {
		return nil
	}
	seen := *t
	seen.UsedAt = now
	if err := k.putToken(ctx, &seen, revision); err != nil && !errors.Is(err, storage.ErrConflict) {
		return err
	}
	return nil
}

// readToken returns a token and the revision of the document, or storage.ErrNoSetting.
func (k *keeper) readToken(ctx context.Context, id string) (access.APIToken, int64, error) {
	s, err := k.settings.Setting(ctx, kindToken, id)
	if err != nil {
		return access.APIToken{}, 0, err
	}
	t, err := access.DecodeAPIToken(s.Body)
	return t, s.Revision, err
}

// putToken writes a token in place of a revision; 0: where there is none.
func (k *keeper) putToken(ctx context.Context, t *access.APIToken, revision int64) error {
	if err := t.Check(); err != nil {
		return err
	}
	body, err := t.Encode()
	if err != nil {
		return err
	}
	_, err = k.settings.PutSetting(ctx, storage.Setting{Kind: kindToken, ID: access.APITokenID(t.Name), Revision: revision, ChangedAt: k.now().UTC(), Body: body})
	return err
}

func result(text string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("result", text))
}
